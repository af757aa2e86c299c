import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bigintToHex32, parseEvmAddress } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import type { KeptOpenings } from '../../archive/kept-openings.ts';
import { openingsKeyPath, openingsPath, openOpeningsStore } from './openings-store.ts';

const address = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');

function openingsOf(root: bigint, paidAtMs = 5): KeptOpenings {
  const insertion = { kind: 'batch', payments: [{ amount: '31337', memo: 'salary-of-ben' }] };
  return {
    ...{ version: 1, chainId: 1, pool: address, token: address, jobKey: 'may-1', paidAtMs },
    ...{ root: bigintToHex32(root), txHash: bigintToHex32(7n) },
    insertion: insertion as unknown as KeptOpenings['insertion'],
  };
}

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'pool-openings-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

it('keeps openings once, encrypted, in files of the owner only', () => {
  const home = makeHome();
  const store = openOpeningsStore(home);
  store.keep(openingsOf(2n, 9));
  store.keep(openingsOf(1n));
  store.keep(openingsOf(1n));
  expect(store.readAll()).toEqual([openingsOf(1n), openingsOf(2n, 9)]);
  for (const name of readdirSync(home)) {
    const bytes = readFileSync(join(home, name), 'latin1');
    expect(bytes).not.toMatch(/salary|31337|may-1/);
    expect(bytes).not.toContain(bigintToHex32(7n).slice(2));
    expect(statSync(join(home, name)).mode & 0o077).toBe(0);
  }
  store.close();
  const again = openOpeningsStore(home);
  expect(again.readAll()).toHaveLength(2);
  again.close();
});

it('refuses rows without their key, under another key, and changed ones', () => {
  const home = makeHome();
  const store = openOpeningsStore(home);
  store.keep(openingsOf(1n));
  store.close();
  const database = new DatabaseSync(openingsPath(home));
  database.exec('UPDATE openings SET paid_at_ms = paid_at_ms + 1');
  database.close();
  const changed = openOpeningsStore(home);
  expect(() => changed.readAll()).toThrow(expect.objectContaining({ code: 'store_damaged' }));
  changed.close();
  unlinkSync(openingsKeyPath(home));
  expect(() => openOpeningsStore(home)).toThrow(
    expect.objectContaining({
      code: 'store_damaged',
      message: expect.stringContaining('missing'),
    }),
  );
});
