// Two processes on one ledger: the lock keeps the second out, and a voter that lost its lock writes nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeBatch } from '../fixtures/batches.ts';
import { ask, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { openLedger } from './open-ledger.ts';

it('a voter that was replaced neither stores nor votes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ledger.sqlite');
  const first = openLedger({ path, role: 'voter' });
  const batch = makeBatch();
  storeBatch(first, batch);
  expect(() => openLedger({ path, role: 'voter' })).toThrow(
    expect.objectContaining({ code: 'ledger_in_use' }),
  );
  // Somebody deletes the lock file, so the lock of the first process guards nothing.
  rmSync(`${path}.lock`);
  const second = openLedger({ path, role: 'voter' });
  const request = fundRequest(batch);
  const replaced = expect.objectContaining({ code: 'ledger_in_use' });
  expect(() => ask(first, { request, manifest: batch })).toThrow(replaced);
  expect(() => storeBatch(first, makeBatch({ jobKey: 'other' }))).toThrow(replaced);
  expect(ask(second, { request, manifest: batch }).kind).toBe('approve');
  first.close();
  second.close();
});
