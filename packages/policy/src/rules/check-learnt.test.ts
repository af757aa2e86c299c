// After a restored ledger was re-baselined: batches whose people it does not know, and spends whose notes it does not know.
import { describe, expect, it } from 'vitest';
import {
  makeBatch,
  makePayee,
  makePolicy,
  makeSpend,
  nowMs,
  releasePolicy,
  stranger,
  holder as wallet,
} from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest, spendRequest } from '../fixtures/requests.ts';
import { createSignedHistory, type SignedRequest } from '../history/signed-history.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import { listFactQuestions } from './fact-questions.ts';

const dayMs = 86_400_000;
const hold = { days: 7, action: 'hold' } as const;
const deny = { days: 7, action: 'deny' } as const;

/** A ledger that has learnt of these from the custodian. */
function rebaselined(...signed: readonly SignedRequest[]) {
  const ledger = createTestLedger();
  ledger.rebaseline(createSignedHistory(signed), { by: 'a test', isComplete: true }, nowMs);
  return ledger;
}

describe('a batch after one of unknown people', () => {
  const paid = makeBatch({ jobKey: 'paid' });
  const learnt = { kind: 'request', request: fundRequest(paid), atMs: nowMs - dayMs } as const;

  function askBatch(batch: RebuiltFund, changes: Partial<Asked>, ledger = rebaselined(learnt)) {
    storeBatch(ledger, batch);
    return ask(ledger, { request: fundRequest(batch), manifest: batch, ...changes });
  }

  const again = makeBatch({ jobKey: 'again' });

  it('waits for people when it has the same total', () => {
    const policy = makePolicy({ duplicateRoster: hold, humanRelease: releasePolicy });
    expect(askBatch(again, { policy })).toMatchObject({
      kind: 'later',
      reason: 'hold-unknown-roster',
    });
  });

  it('is refused where nobody can release it', () => {
    const policy = makePolicy({ duplicateRoster: deny });
    expect(askBatch(again, { policy })).toMatchObject({ kind: 'deny', reason: 'unknown-roster' });
  });

  it('is approved with another total, after the days, and without the rule', () => {
    const policy = makePolicy({ duplicateRoster: deny });
    const other = makeBatch({ jobKey: 'other', payees: [makePayee(1, 499n)] });
    expect(askBatch(other, { policy }).kind).toBe('approve');
    const old = { ...learnt, atMs: nowMs - 8 * dayMs };
    expect(askBatch(again, { policy }, rebaselined(old)).kind).toBe('approve');
    expect(askBatch(again, {}).kind).toBe('approve');
  });

  it('is refused when the unknown one has two contents, so that its total is unknown', () => {
    const policy = makePolicy({ duplicateRoster: deny });
    const changed = makeBatch({ jobKey: 'paid', batchRoot: 12n, payees: [makePayee(1, 3n)] });
    const ledger = rebaselined(learnt, { ...learnt, request: fundRequest(changed) });
    const other = makeBatch({ jobKey: 'other', payees: [makePayee(1, 7n)] });
    expect(askBatch(other, { policy }, ledger)).toMatchObject({ reason: 'unknown-roster' });
  });

  it('is judged by the roster once the known batch was asked for again', () => {
    const policy = makePolicy({ duplicateRoster: deny });
    const ledger = rebaselined(learnt);
    expect(askBatch(paid, { policy }, ledger).kind).toBe('approve');
    const same = makeBatch({ jobKey: 'same', payees: [makePayee(2, 500n)] });
    expect(askBatch(same, { policy }, ledger).kind).toBe('approve');
    expect(askBatch(again, { policy }, ledger)).toMatchObject({ reason: 'duplicate-roster' });
    expect(ledger.exportHistory().rosters).toContainEqual(
      expect.objectContaining({ rosterDigest: paid.rosterDigest, approvedAtMs: nowMs - dayMs }),
    );
  });
});

describe('the attempt after one that the ledger has learnt of', () => {
  const signed = makeBatch({ deadline: Math.floor(nowMs / 1000) + 7_200 });
  const learnt = { kind: 'request', request: fundRequest(signed), atMs: nowMs } as const;
  const next = makeBatch({ attempt: 2 });

  /** The deadline that the attempt before it is dead after. */
  function findDeadline(posted: RebuiltFund, ledger = rebaselined(learnt)) {
    storeBatch(ledger, posted);
    return ledger.read((view) => listFactQuestions(next, view).previousAttempt);
  }

  it('knows the deadline of what was signed', () => {
    expect(findDeadline(signed)).toMatchObject({
      isApproved: true,
      deadline: signed.file.deadline,
    });
  });

  it('does not take the deadline of another content that was posted since', () => {
    const posted = makeBatch({ deadline: Math.floor(nowMs / 1000) + 600 });
    expect(findDeadline(posted)).toMatchObject({ isApproved: true, deadline: undefined });
  });

  it('takes no deadline when two contents were signed', () => {
    const other = { ...learnt, request: fundRequest(makeBatch()) };
    const ledger = rebaselined(learnt, other);
    expect(findDeadline(signed, ledger)).toMatchObject({ isApproved: true, deadline: undefined });
  });
});

describe('a spend after one of unknown notes', () => {
  const { digest } = makeSpend({ salt: 9 });
  const learnt = { kind: 'spend-digest', digest, atMs: nowMs } as const;
  const own = { ...learnt, holder: wallet };
  const windowMs = 90_000_000 + 900_000;

  function askSpend(signed: SignedRequest, atMs = nowMs, maxSeconds = 90_000) {
    const ledger = rebaselined(signed);
    const spend = makeSpend({ deadline: Math.floor(atMs / 1000) + 900 });
    storeBatch(ledger, spend, atMs);
    return ask(ledger, {
      request: spendRequest(spend),
      origin: { kind: 'local' },
      signer: { deterministic: true },
      manifest: spend,
      facts: { usedNullifiers: [], deadSpends: [] },
      policy: makePolicy({ deadline: { minSeconds: 300, maxSeconds } }),
      nowMs: atMs,
    });
  }

  it('waits until the unknown one can no longer land', () => {
    expect(askSpend(own)).toMatchObject({ kind: 'later', reason: 'spend-unknown' });
    expect(askSpend(own, nowMs + windowMs - 1).kind).toBe('later');
    expect(askSpend(own, nowMs + windowMs).kind).toBe('approve');
  });

  it('waits for 24 hours, because the sum of the unknown one is unknown', () => {
    const endMs = nowMs + 86_400_000;
    expect(askSpend(own, endMs - 1, 3_600)).toMatchObject({ reason: 'spend-unknown' });
    expect(askSpend(own, endMs, 3_600).kind).toBe('approve');
  });

  it('waits for one of an unknown wallet, and not for one of another wallet', () => {
    expect(askSpend(learnt).kind).toBe('later');
    expect(askSpend({ ...learnt, holder: stranger }).kind).toBe('approve');
  });

  it('does not wait for itself, or for one that this ledger approved', () => {
    expect(askSpend({ ...own, digest: makeSpend().digest }).kind).toBe('approve');
    const ledger = createTestLedger();
    const first = makeSpend({ salt: 9 });
    storeBatch(ledger, first);
    const common = {
      origin: { kind: 'local' },
      signer: { deterministic: true },
      facts: { usedNullifiers: [], deadSpends: [first.manifestDigest] },
    } as const;
    ask(ledger, { request: spendRequest(first), manifest: first, ...common });
    ledger.importHistory(createSignedHistory([own]), nowMs);
    const next = makeSpend();
    storeBatch(ledger, next);
    expect(ask(ledger, { request: spendRequest(next), manifest: next, ...common }).kind).toBe(
      'approve',
    );
  });
});
