// The check of a note cache that another process has open.
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fill, makePath, open } from '../../fixtures/note-cache.ts';
import { makeLeaves, markOf } from '../../fixtures/note-rows.ts';

/** Does something after a check has read the checkpoint and before it reads the pages. */
function betweenReadings(work: () => void): void {
  const { prepare } = DatabaseSync.prototype;
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    if (sql.startsWith('SELECT id, body FROM note_pages')) {
      work();
    }
    return Reflect.apply(prepare, this, [sql]);
  });
  onTestFinished(() => {
    spy.mockRestore();
  });
}

describe('the note store', () => {
  it('is checked while another process writes it, and nothing is discarded', () => {
    const path = makePath();
    fill(path);
    const { store: other } = open(path);
    let written = 12;
    betweenReadings(() => {
      other.appendLeaves(makeLeaves(written, 3), markOf(10 + written));
      written += 3;
    });
    const { store, discarded } = open(path);
    expect([discarded, store.leafCount, written]).toEqual([[], 12, 15]);
    other.appendLeaves(makeLeaves(15, 3), markOf(40));
    expect(other.leafCount).toBe(18);
    store.close();
    other.close();
  });

  it('is discarded only if a second check finds damage too', () => {
    const path = makePath();
    fill(path);
    let failures = 1;
    betweenReadings(() => {
      failures -= 1;
      if (failures === 0) {
        throw Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
      }
    });
    const { store, discarded } = open(path);
    expect([discarded, store.leafCount, failures]).toEqual([[], 12, -1]);
    store.close();
  });
});
