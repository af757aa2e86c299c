import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openLedger } from './open-ledger.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-ledger-'));
  path = join(folder, 'ledger.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** From now on no database file of this process can grow, as on a full disk. */
function fillDisk(): void {
  const { exec } = DatabaseSync.prototype;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    Reflect.apply(exec, this, ['PRAGMA max_page_count = 1']);
    Reflect.apply(exec, this, [sql]);
  });
  onTestFinished(() => {
    spy.mockRestore();
  });
}

describe('a ledger on a full disk', () => {
  it('names its file and keeps what it has', () => {
    const ledger = openLedger({ path, role: 'voter' });
    ledger.writeAudit('test', {}, 1);
    const { entries } = { entries: 0, ...ledger.verifyAudit() };
    fillDisk();
    expect(() => ledger.writeAudit('test', { text: 'x'.repeat(100_000) }, 2)).toThrow(
      expect.objectContaining({
        code: 'disk_full',
        status: 503,
        message: expect.stringMatching(
          new RegExp(`^${path} .*disk is full .*KiB.*make room on it`),
        ),
      }),
    );
    expect(ledger.verifyAudit()).toMatchObject({ kind: 'intact', entries });
    ledger.close();
  });

  it('is not called unreadable if it cannot be made', () => {
    fillDisk();
    expect(() => openLedger({ path, role: 'voter' })).toThrow(
      expect.objectContaining({ code: 'disk_full' }),
    );
  });
});
