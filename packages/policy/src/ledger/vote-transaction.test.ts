// The custodian's transaction of a vote or a wait, in a file that a later process opens.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeBatch, nowMs } from '../fixtures/batches.ts';
import { decideAs, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { type Ledger, openLedger } from './open-ledger.ts';

const batch = makeBatch();
const request = fundRequest(batch);
let folder: string;
let path: string;
let ledger: Ledger;

function reopen(): void {
  ledger.close();
  ledger = openLedger({ path, role: 'voter' });
}

function askAs(requestId: string, transactionId?: string): void {
  const question = { requestId, transactionId, request, nowMs };
  ledger.decide(question, decideAs({ request, manifest: batch }));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-ledger-'));
  path = join(folder, 'ledger.db');
  ledger = openLedger({ path, role: 'voter' });
});
afterEach(() => {
  ledger.close();
  rmSync(folder, { recursive: true });
});

it('is stored with the decision, and of a vote without one when it is known', () => {
  askAs('waits', 'tx-1');
  askAs('learns');
  askAs('learns', 'tx-2');
  askAs('learns');
  reopen();
  expect(ledger.listWaiting()).toMatchObject([
    { requestId: 'learns', transactionId: 'tx-2' },
    { requestId: 'waits', transactionId: 'tx-1' },
  ]);
  storeBatch(ledger, batch);
  askAs('waits', 'tx-1');
  askAs('alone');
  ledger.noteTransaction(2, 'tx-3');
  ledger.noteTransaction(2, 'tx-4');
  ledger.noteTransaction(1, 'tx-5');
  reopen();
  expect(ledger.listOpenVotes()).toMatchObject([
    { requestId: 'waits', transactionId: 'tx-1' },
    { requestId: 'alone', transactionId: 'tx-3' },
  ]);
});
