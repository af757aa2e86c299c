import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bigintToHex32 } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { openingsOf } from '../../fixtures/openings.ts';
import { openingsKeyPath, openingsPath, openOpeningsStore } from './openings-store.ts';

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'pool-openings-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

it('keeps openings once, encrypted, in files of the owner only', async () => {
  const home = makeHome();
  const store = openOpeningsStore(home);
  await store.keep(openingsOf(2n, 9));
  await store.keep(openingsOf(1n));
  await store.keep(openingsOf(1n));
  expect(await store.readAll()).toEqual([openingsOf(1n), openingsOf(2n, 9)]);
  for (const name of readdirSync(home)) {
    const bytes = readFileSync(join(home, name), 'latin1');
    expect(bytes).not.toMatch(/salary|31337|may-1/);
    expect(bytes).not.toContain(bigintToHex32(7n).slice(2));
    expect(statSync(join(home, name)).mode & 0o077).toBe(0);
  }
  store.close();
  const again = openOpeningsStore(home);
  expect(await again.readAll()).toHaveLength(2);
  again.close();
});

it('refuses rows without their key, under another key, and changed ones', async () => {
  const home = makeHome();
  const store = openOpeningsStore(home);
  await store.keep(openingsOf(1n));
  store.close();
  const database = new DatabaseSync(openingsPath(home));
  database.exec('UPDATE openings SET paid_at_ms = paid_at_ms + 1');
  database.close();
  const changed = openOpeningsStore(home);
  await expect(changed.readAll()).rejects.toMatchObject({ code: 'store_damaged' });
  changed.close();
  unlinkSync(openingsKeyPath(home));
  expect(() => openOpeningsStore(home)).toThrow(
    expect.objectContaining({
      code: 'store_damaged',
      message: expect.stringContaining('missing'),
    }),
  );
});
