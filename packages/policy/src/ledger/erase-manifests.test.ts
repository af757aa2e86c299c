// Which manifests lose their people, amounts and seeds: further cases are in ledger.test.ts.
import { expect, it } from 'vitest';
import { makeBatch, nowMs } from '../fixtures/batches.ts';
import { type Asked, createTestLedger, decideAs, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';

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
