// Sentences that name amounts: in the token's unit, and in base units.
import { expect, it } from 'vitest';
import {
  holder,
  holderOrigin,
  makeBatch,
  makeHolderPolicy,
  makePolicy,
  makeSpend,
  makeTokenPolicy,
} from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest, spendRequest } from '../fixtures/requests.ts';
import type { Policy } from '../policy/policy-schema.ts';

function explainBatch(changes: Asked): string {
  const ledger = createTestLedger();
  const batch = makeBatch();
  storeBatch(ledger, batch);
  const decision = ask(ledger, { request: fundRequest(batch), manifest: batch, ...changes });
  return decision.kind === 'approve' ? '' : decision.message;
}

it('limits of a batch', () => {
  expect(explainBatch({ policy: makeTokenPolicy({ maxPerBatch: '499' }) })).toMatch(
    / The total is 0\.0005 USDC \(500\), the limit is 0\.000499 USDC \(499\)\.$/,
  );
  expect(explainBatch({ policy: makeTokenPolicy({ maxPerDay: '400', decimals: 2 }) })).toMatch(
    / The sum of 2026-11-23 would be 5\.00 USDC \(500\), the limit is 4\.00 USDC \(400\)\.$/,
  );
});

function explainSpend(policy: Policy): string {
  const ledger = createTestLedger();
  const spend = makeSpend({ withdrawAmount: 600n, recipient: holder });
  storeBatch(ledger, spend);
  const decision = ask(ledger, {
    request: spendRequest(spend),
    manifest: spend,
    origin: holderOrigin,
    policy,
  });
  return decision.kind === 'approve' ? '' : decision.message;
}

it('limits of a spend, also of a token that no batch may pay', () => {
  const [rules] = makePolicy().holders;
  const limit = (changes: Readonly<Record<string, string>>) => ({
    spend: {
      ...rules?.spend,
      assets: rules?.spend?.assets.map((asset) => ({ ...asset, ...changes })),
    },
  });
  expect(explainSpend(makeHolderPolicy(limit({ maxPerCall: '599' })))).toMatch(
    / It sends 0\.0006 USDC \(600\), the limit is 0\.000599 USDC \(599\)\.$/,
  );
  const small = limit({ maxPerDay: '599' });
  expect(explainSpend(makeHolderPolicy(small))).toMatch(
    / would be 0\.0006 USDC \(600\), the limit is 0\.000599 USDC \(599\)\.$/,
  );
  expect(explainSpend(makePolicy({ holders: [{ ...rules, ...small }], pools: [] }))).toMatch(
    / would be 600 base units, the limit is 599 base units\.$/,
  );
});
