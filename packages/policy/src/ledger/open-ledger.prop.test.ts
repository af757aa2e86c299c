// Properties of decisions and merges, for any sequence.
import { parseHex32 } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeBatch, makePayee, makeTokenPolicy, nowMs, token } from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { computeCountScope, computeDay } from '../history/guard-id.ts';
import type { LedgerHistory } from '../history/ledger-history.ts';
import type { Ledger } from './open-ledger.ts';

const hourMs = 3_600_000;
const limits = { maxPerRecipient: '60', maxPerBatch: '100', maxPerDay: '150' };
const policy = makeTokenPolicy(limits);

/** Six jobs of different totals; two of them break a limit of their own. */
const batches = [10n, 30n, 50n, 60n, 61n, 55n].map((amount, index) =>
  makeBatch({
    jobKey: `job ${index}`,
    deadline: nowMs / 1000 + 86_000,
    payees: index === 5 ? [makePayee(1, amount), makePayee(2, amount)] : [makePayee(index, amount)],
  }),
);

const stepArbitrary = fc.record({
  index: fc.integer({ min: 0, max: batches.length - 1 }),
  isStored: fc.boolean(),
  hours: fc.integer({ min: 0, max: 20 }),
});

describe('any sequence of requests', () => {
  it('never approves above a limit, without a stored manifest, or counts a batch twice', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 14 }), (steps) => {
        const ledger = createTestLedger();
        const stored = new Set<number>();
        const firstDays = new Map<number, string>();
        for (const { index, isStored, hours } of steps) {
          const batch = batches[index];
          if (batch === undefined) {
            continue;
          }
          if (isStored) {
            storeBatch(ledger, batch);
            stored.add(index);
          }
          const atMs = nowMs + hours * hourMs;
          const decision = ask(ledger, {
            request: fundRequest(batch),
            manifest: batch,
            policy,
            nowMs: atMs,
          });
          if (decision.kind !== 'approve') {
            continue;
          }
          expect(stored.has(index)).toBe(true);
          expect(batch.total <= 100n && batch.payees.every(({ amount }) => amount <= 60n)).toBe(
            true,
          );
          firstDays.set(index, firstDays.get(index) ?? computeDay(atMs));
        }
        for (const day of new Set(firstDays.values())) {
          const sum = [...firstDays]
            .filter(([, first]) => first === day)
            .reduce((total, [index]) => total + (batches[index]?.total ?? 0n), 0n);
          expect(sum <= 150n).toBe(true);
          expect(
            ledger.read((view) => view.sumOfDay(computeCountScope({ ...makeBatch() }), day)),
          ).toBe(sum);
        }
        ledger.close();
      }),
      { numRuns: 20 },
    );
  });
});

const wordArbitrary = fc
  .integer({ min: 0, max: 3 })
  .map((digit) => parseHex32(`0x${String(digit).repeat(64)}`));
const timeArbitrary = fc.integer({ min: 0, max: 5 });
const historyArbitrary: fc.Arbitrary<LedgerHistory> = fc.record({
  guards: fc.array(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      kind: fc.constantFrom('fund-authorization', 'void'),
      digest: wordArbitrary,
      firstAtMs: timeArbitrary,
      isConflicted: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  counts: fc.array(
    fc.record({
      guardId: fc.constantFrom('a', 'b'),
      scope: fc.constantFrom('x', 'y'),
      day: fc.constantFrom('2026-11-22', '2026-11-23'),
      amount: fc.bigInt({ min: 0n, max: 12n }),
      atMs: timeArbitrary,
    }),
    { maxLength: 4 },
  ),
  pins: fc.array(
    fc.record({
      walletKey: wordArbitrary,
      encryptionPublicKey: wordArbitrary.map((word) => word as never),
      issuedAtMs: timeArbitrary,
    }),
    { maxLength: 4 },
  ),
  payees: fc.array(wordArbitrary, { maxLength: 3 }),
  rosters: fc.array(
    fc.record({
      rosterDigest: wordArbitrary,
      guardId: fc.constantFrom('a', 'b'),
      label: fc.constantFrom('', 'l'),
      approvedAtMs: timeArbitrary,
    }),
    { maxLength: 3 },
  ),
  nullifiers: fc.array(
    fc.record({ nullifier: wordArbitrary, manifestDigest: wordArbitrary, deadline: timeArbitrary }),
    { maxLength: 3 },
  ),
  releases: fc.array(
    fc.record({
      rosterDigest: wordArbitrary,
      manifestDigest: wordArbitrary,
      publicKey: fc.constantFrom('0xaa', '0xbb'),
      decision: fc.constantFrom('release', 'deny'),
      total: fc.constant('1'),
      token: fc.constant(token),
      issuedAt: fc.constantFrom('2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'),
      signature: fc.constantFrom('0x01', '0x02'),
    }),
    { maxLength: 3 },
  ),
});

function merge(...histories: readonly LedgerHistory[]): LedgerHistory {
  const ledger: Ledger = createTestLedger();
  for (const history of histories) {
    ledger.importHistory(history, nowMs);
  }
  const merged = ledger.exportHistory();
  ledger.close();
  return merged;
}

describe('any merge of histories', () => {
  it('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(historyArbitrary, historyArbitrary, historyArbitrary, (a, b, c) => {
        const all = merge(a, b, c);
        expect(merge(c, b, a)).toEqual(all);
        expect(merge(merge(a, b), merge(b, c))).toEqual(all);
        expect(merge(all, a)).toEqual(all);
      }),
      { numRuns: 20 },
    );
  });

  it('never lowers a sum, removes a guard or ends a conflict', () => {
    fc.assert(
      fc.property(historyArbitrary, historyArbitrary, (a, b) => {
        const before = merge(a);
        const after = merge(a, b);
        for (const guard of before.guards) {
          const kept = after.guards.find(({ id }) => id === guard.id);
          expect(kept).toBeDefined();
          expect(
            kept?.isConflicted === true || (!guard.isConflicted && kept?.digest === guard.digest),
          ).toBe(true);
        }
        for (const count of before.counts) {
          const kept = after.counts.find(
            ({ guardId, scope, day }) =>
              guardId === count.guardId && scope === count.scope && day === count.day,
          );
          expect(kept !== undefined && kept.amount >= count.amount).toBe(true);
        }
        for (const pin of before.pins) {
          const kept = after.pins.find(({ walletKey }) => walletKey === pin.walletKey);
          expect(kept !== undefined && kept.issuedAtMs >= pin.issuedAtMs).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });
});
