// Which manifests are stored, what the chain is asked before a decision, and the words of the reasons.
import { readFileSync } from 'node:fs';
import { fieldToHex } from '@pool/core';
import { describe, expect, it } from 'vitest';
import {
  chainId,
  employerId,
  funder,
  makeBatch,
  makeHolderPolicy,
  makePolicy,
  makeSpend,
  nowMs,
  pool,
} from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest, spendRequest } from '../fixtures/requests.ts';
import type { RebuiltManifest } from '../rebuild/rebuild-manifest.ts';
import { decisionReasons } from '../requests/reasons.ts';
import { listFactQuestions } from '../rules/fact-questions.ts';
import { decideIntake, type IntakeInput } from './decide-intake.ts';

function takeIn(
  manifest: RebuiltManifest,
  changes: Partial<IntakeInput> = {},
  ledger = createTestLedger(),
) {
  return ledger.storeManifest(manifest, nowMs, (view) =>
    decideIntake({ manifest, policy: makePolicy(), ledger: view, facts: {}, nowMs, ...changes }),
  );
}

describe('the intake of a manifest', () => {
  it('stores a batch and a spend of the policy', () => {
    expect(takeIn(makeBatch()).kind).toBe('stored');
    expect(takeIn(makeSpend()).kind).toBe('stored');
  });

  it.each([
    ['a foreign funder', makeBatch(), { policy: makePolicy({ funders: [] }) }, 'funder-not-listed'],
    ['another pool', makeBatch(), { policy: makePolicy({ pools: [] }) }, 'token-not-listed'],
    [
      'another employer',
      makeBatch({ employerId: '00000000-0000-4000-8000-000000000000' }),
      {},
      'employer-not-listed',
    ],
    ['a foreign holder', makeSpend(), { policy: makePolicy({ holders: [] }) }, 'holder-not-listed'],
    [
      'a holder that may not spend',
      makeSpend(),
      { policy: makeHolderPolicy({ spend: undefined }) },
      'spend-not-allowed',
    ],
    [
      'a batch with a deadline that is too far',
      makeBatch({ deadline: nowMs / 1000 + 90_001 }),
      {},
      'deadline-too-far',
    ],
    [
      'a spend with a deadline that is too far',
      makeSpend({ deadline: 2 ** 48 - 1 }),
      {},
      'deadline-too-far',
    ],
  ] as const)('refuses %s', (_title, manifest, changes, reason) => {
    expect(takeIn(manifest, changes)).toMatchObject({ kind: 'refused', reason });
  });

  it('frees a job key after the deadline of a manifest that nobody approved', () => {
    const ledger = createTestLedger();
    const junk = makeBatch({ batchRoot: 12n, deadline: nowMs / 1000 + 4 });
    const real = makeBatch({ deadline: nowMs / 1000 + 7_200 });
    const takeAt = (atMs: number, batch = real) =>
      ledger.storeManifest(batch, atMs, (view) =>
        decideIntake({
          manifest: batch,
          policy: makePolicy(),
          ledger: view,
          facts: {},
          nowMs: atMs,
        }),
      );
    const askAt = (atMs: number, batch: typeof real) =>
      ask(ledger, { request: fundRequest(batch), manifest: batch, nowMs: atMs });
    expect(takeAt(nowMs, junk).kind).toBe('stored');
    expect(takeAt(nowMs + 4_000)).toMatchObject({ reason: 'job-has-other-manifest' });
    expect(takeAt(nowMs + 4_001).kind).toBe('stored');
    // The one that made way is never approved, and its authorisation does not follow from the other.
    expect(askAt(nowMs + 5_000, junk).kind).not.toBe('approve');
    expect(askAt(nowMs + 5_000, real).kind).toBe('approve');
    // What was approved keeps its key for ever.
    const late = makeBatch({ batchRoot: 13n, deadline: nowMs / 1000 + 9_000 });
    expect(takeAt(nowMs + 7_200_001, late)).toMatchObject({ reason: 'job-has-other-manifest' });
    expect(ledger.verifyAudit().kind).toBe('intact');
  });

  it('refuses a second live manifest for one job, and takes the next attempt when the first is dead', () => {
    const ledger = createTestLedger();
    takeIn(makeBatch(), {}, ledger);
    expect(takeIn(makeBatch({ batchRoot: 12n }), {}, ledger)).toMatchObject({
      reason: 'job-has-other-manifest',
    });
    const next = makeBatch({ attempt: 2 });
    expect(takeIn(next, { facts: { previousAttempt: 'alive' } }, ledger)).toMatchObject({
      kind: 'later',
      reason: 'previous-attempt-alive',
    });
    expect(takeIn(next, { facts: { previousAttempt: 'settled' } }, ledger)).toMatchObject({
      kind: 'refused',
      reason: 'previous-attempt-settled',
    });
    expect(takeIn(next, {}, ledger)).toMatchObject({ kind: 'later', reason: 'facts-unavailable' });
    expect(takeIn(next, { facts: { previousAttempt: 'dead' } }, ledger).kind).toBe('stored');
  });
});

describe('the questions to the chain', () => {
  it('of a first attempt are about its own batch', () => {
    const batch = makeBatch();
    const questions = createTestLedger().read((view) => listFactQuestions(batch, view));
    expect(questions).toMatchObject({
      batch: {
        chainId,
        pool,
        funder,
        batchId: fieldToHex(batch.batchId),
        deadline: batch.file.deadline,
      },
      previousAttempt: undefined,
    });
  });

  it('of a second attempt are about the first too, with the deadline that was stored', () => {
    const ledger = createTestLedger();
    const [first, second] = [makeBatch(), makeBatch({ attempt: 2 })];
    const unknown = ledger.read((view) => listFactQuestions(second, view));
    expect(unknown.previousAttempt).toMatchObject({
      batchNonce: fieldToHex(first.batchNonce),
      deadline: undefined,
    });
    storeBatch(ledger, first);
    const known = ledger.read((view) => listFactQuestions(second, view));
    expect(known.previousAttempt).toMatchObject({
      batchNonce: fieldToHex(first.batchNonce),
      batchId: fieldToHex(first.batchId),
      deadline: first.file.deadline,
    });
    expect(first.employerId).toBe(employerId);
  });

  it('of a spend are about its nullifiers and about earlier spends of them', () => {
    const ledger = createTestLedger();
    const first = makeSpend({ nullifiers: [1n, 2n] });
    storeBatch(ledger, first);
    const origin = { kind: 'local' } as const;
    expect(ask(ledger, { request: spendRequest(first), manifest: first, origin }).kind).toBe(
      'approve',
    );
    const next = makeSpend({ nullifiers: [2n, 3n] });
    expect(ledger.read((view) => listFactQuestions(next, view))).toMatchObject({
      nullifiers: { chainId, pool, values: next.nullifiers },
      earlierSpends: [
        {
          manifestDigest: first.manifestDigest,
          deadline: first.deadline,
          nullifiers: [next.nullifiers[0]],
        },
      ],
    });
    expect(ledger.read((view) => listFactQuestions(first, view)).earlierSpends).toEqual([]);
  });
});

describe('the reasons', () => {
  it('are one sentence or two each, that begin with a capital letter', () => {
    for (const [code, sentence] of Object.entries(decisionReasons)) {
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      expect(code).toMatch(/^[a-z-]+$/);
    }
  });

  it('of a wait are named in the README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const code of Object.keys(decisionReasons).filter((one) => one.startsWith('hold-'))) {
      expect(readme).toContain(`\`${code}\``);
    }
  });
});
