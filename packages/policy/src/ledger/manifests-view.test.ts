import { expect, it } from 'vitest';
import { decide } from '../decide/decide.ts';
import {
  custodian,
  makeBatch,
  makePayee,
  makePolicy,
  makeSpend,
  nowMs,
} from '../fixtures/batches.ts';
import { createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import { viewAsStored } from './manifests.ts';
import type { Ledger } from './open-ledger.ts';

function explain(ledger: Ledger, batch: RebuiltFund) {
  return ledger.read((view) =>
    decide({
      request: fundRequest(batch),
      origin: custodian,
      manifest: batch,
      policy: makePolicy(),
      ledger: viewAsStored(view, batch, nowMs),
      facts: { clock: [], batch: 'open', previousAttempt: 'dead' },
      signer: { deterministic: false },
      nowMs,
    }),
  );
}

it('a manifest that was not posted is decided like a stored one, and is not stored', () => {
  const ledger = createTestLedger();
  expect(explain(ledger, makeBatch())).toMatchObject({ kind: 'approve' });
  expect(ledger.listManifests()).toEqual([]);
});

it('another manifest of its attempt, and a later attempt, are seen', () => {
  const ledger = createTestLedger();
  storeBatch(ledger, makeBatch({ attempt: 2 }));
  expect(explain(ledger, makeBatch({ attempt: 2, payees: [makePayee(2, 1n)] }))).toMatchObject({
    kind: 'deny',
    reason: 'job-has-other-manifest',
  });
  expect(explain(ledger, makeBatch())).toMatchObject({
    kind: 'deny',
    reason: 'attempt-superseded',
  });
});

it('the same manifest with another deadline is not the stored one', () => {
  const ledger = createTestLedger();
  const stored = makeBatch();
  storeBatch(ledger, stored);
  const later = makeBatch({ deadline: nowMs / 1000 + 7_200 });
  expect(explain(ledger, later)).toMatchObject({ kind: 'deny', reason: 'manifest-mismatch' });
});

it('a spend has no attempts', () => {
  const ledger = createTestLedger();
  const spend = makeSpend();
  ledger.read((view) => {
    const seen = viewAsStored(view, spend, nowMs);
    expect(seen.findManifest(spend.manifestDigest)).toMatchObject({ digest: spend.digest });
    expect(seen.findManifest(makeBatch().manifestDigest)).toBeUndefined();
    expect(seen.listAttempts('', '')).toEqual([]);
  });
});
