import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeReceived } from '../../fixtures/note-rows.ts';
import type { ArchivedNote } from '../../sync/ports.ts';
import { openNoteArchive } from './note-archive.ts';

const recordBytes = 339;

function makePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pool-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'holder-notes.archive');
}

function make(first: number, count: number): readonly ArchivedNote[] {
  return makeReceived(first, count).map(
    ({ assetId, commitment, sealed, leafIndex, slot, txHash }) => ({
      ...{ assetId, commitment, sealed, leafIndex, slot, txHash },
    }),
  );
}

function readAll(path: string, from = 0): readonly ArchivedNote[] {
  return [...openNoteArchive(path).read(from)].map(({ note }) => note);
}

describe('the archive of notes', () => {
  it('is empty before the first note, and makes no file', () => {
    const path = makePath();
    const archive = openNoteArchive(path);
    expect([archive.end, [...archive.read(0)]]).toEqual([0, []]);
    expect(() => statSync(path)).toThrow();
  });

  it.each(['file', ':memory:'])('gives back what was appended, from any position: %s', (kind) => {
    const archive = openNoteArchive(kind === 'file' ? makePath() : kind);
    expect(archive.append(make(0, 3))).toEqual({ start: 0, end: 3 * recordBytes });
    expect(archive.append([])).toEqual({ start: 3 * recordBytes, end: 3 * recordBytes });
    expect(archive.append(make(3, 1))).toMatchObject({ start: 3 * recordBytes });
    const records = [...archive.read(0)];
    expect(records.map(({ note }) => note)).toEqual(make(0, 4));
    expect(records.map(({ position, end }) => [position, end])).toEqual(
      [0, 1, 2, 3].map((index) => [index * recordBytes, (index + 1) * recordBytes]),
    );
    expect([...archive.read(2 * recordBytes)].map(({ note }) => note)).toEqual(make(2, 2));
    expect(archive.end).toBe(4 * recordBytes);
  });

  it('gives back more than it reads at once', () => {
    const path = makePath();
    const many = make(0, 13_000);
    openNoteArchive(path).append(many);
    expect(readAll(path)).toEqual(many);
  });

  it('is readable by its owner only', () => {
    const path = makePath();
    openNoteArchive(path).append(make(0, 1));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('loses to a changed byte the record that has it, and no other', () => {
    const path = makePath();
    openNoteArchive(path).append(make(0, 5));
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at += 13) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x11;
      writeFileSync(path, bytes);
      const damaged = Math.floor(at / recordBytes);
      expect(readAll(path)).toEqual(make(0, 5).filter((_, index) => index !== damaged));
    }
  });

  it.each([1, 8, 100, 338])(
    'keeps every other record if a write was cut off after %s bytes, whatever follows',
    (bytes) => {
      const path = makePath();
      const archive = openNoteArchive(path);
      archive.append(make(0, 2));
      truncateSync(path, recordBytes + bytes);
      expect(readAll(path)).toEqual(make(0, 1));
      archive.append(make(2, 2));
      expect(readAll(path)).toEqual([...make(0, 1), ...make(2, 2)]);
    },
  );

  it('passes over foreign bytes, also those that look like the beginning of a record', () => {
    const path = makePath();
    appendFileSync(path, 'poolnt01'.repeat(50));
    const archive = openNoteArchive(path);
    archive.append(make(0, 2));
    appendFileSync(path, `x${'poolnt0'.repeat(9)}`);
    archive.append(make(2, 1));
    expect(readAll(path)).toEqual(make(0, 3));
  });

  it('says that another process wrote at the same time', async () => {
    const path = makePath();
    const writer = fileURLToPath(new URL('../../fixtures/note-writer.ts', import.meta.url));
    const cache = path.replace(/\.archive$/, '');
    const child = spawn(
      process.execPath,
      ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', writer, cache],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    const mine = make(1_000_000, 60);
    const archive = openNoteArchive(path);
    for (const note of mine) {
      const before = archive.end;
      const written = archive.append([note]);
      expect(written === undefined || written.end === written.start + recordBytes).toBe(true);
      expect(written === undefined || written.start >= before).toBe(true);
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const all = readAll(path);
    expect(all.filter(({ leafIndex }) => leafIndex >= 1_000_000)).toEqual(mine);
    const theirs = all.filter(({ leafIndex }) => leafIndex < 1_000_000);
    expect(theirs).toEqual(make(0, theirs.length));
    expect(theirs.length).toBeGreaterThan(0);
  });

  it('names the file and what to do if it cannot be used', () => {
    const path = join(makePath(), 'missing', 'x.archive');
    const unavailable = expect.objectContaining({
      code: 'note_cache_unavailable',
      message: expect.stringContaining(path),
    });
    expect(() => openNoteArchive(path).append(make(0, 1))).toThrow(unavailable);
    const locked = makePath();
    openNoteArchive(locked).append(make(0, 1));
    chmodSync(locked, 0o000);
    if (process.getuid?.() !== 0) {
      expect(() => [...openNoteArchive(locked).read(0)]).toThrow(
        expect.objectContaining({ message: expect.stringContaining('readable and writable') }),
      );
    }
  });
});
