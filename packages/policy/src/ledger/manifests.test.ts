// Which manifests lose their people, amounts and seeds: further cases are in open-ledger.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { makeBatch, makeTokenPolicy, nowMs } from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, decideAs, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { openLedger } from './open-ledger.ts';

it('erases a manifest that was denied, and keeps one that was approved', () => {
  const ledger = createTestLedger();
  const approved = makeBatch();
  const denied = makeBatch({ jobKey: 'denied' });
  storeBatch(ledger, approved);
  storeBatch(ledger, denied);
  const decideOn = (manifest: typeof approved, changes: Asked = {}) => {
    const { jobKey: requestId, manifestDigest } = manifest;
    const request = fundRequest(manifest);
    const decide = decideAs({ request, manifest, ...changes });
    return ledger.decide({ requestId, request, manifestDigest, nowMs }, decide);
  };
  expect(decideOn(approved)).toMatchObject({ vote: { value: 'approve' } });
  const origin = { kind: 'custodian', wallet: 'nobody’s', initiator: 'nobody' } as const;
  expect(decideOn(denied, { origin })).toMatchObject({ vote: { value: 'deny' } });
  expect(ledger.listVotes(denied.manifestDigest)).toHaveLength(1);
  expect(ledger.eraseManifests(nowMs + 1, nowMs)).toBe(1);
  expect(ledger.readFile(denied.manifestDigest)).toBeUndefined();
  expect(ledger.readFile(approved.manifestDigest)).toBeDefined();
  ledger.close();
});

it('finds sums of recipients that were deleted, although an entry of the audit log is dated ahead', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pool-sums-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ledger.db');
  const ledger = openLedger({ path, role: 'voter' });
  const batch = makeBatch();
  storeBatch(ledger, batch);
  const policy = makeTokenPolicy({ maxPerRecipientPerDay: '900' });
  expect(ask(ledger, { request: fundRequest(batch), manifest: batch, policy }).kind).toBe(
    'approve',
  );
  ledger.writeAudit('started', {}, nowMs + 3 * 86_400_000);
  expect(ledger.verifyAudit().kind).toBe('intact');
  ledger.close();
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM counted WHERE scope LIKE 'payee/%'");
  database.close();
  const again = openLedger({ path, role: 'voter' });
  onTestFinished(() => again.close());
  expect(again.verifyAudit()).toMatchObject({ kind: 'broken' });
});
