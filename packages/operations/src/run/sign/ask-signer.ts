/**
 * Asks the signer of the funder. A signer that needs a vote answers after minutes or hours: the request is stored before it is sent,
 * so a restart waits for the same request, and neither an outage of the signer nor a long vote fails the job. Only the signer's own
 * answer and the deadline of the batch end the wait. A signer that needs no vote has the time of an outage to answer, and no more.
 *
 * @module
 */
import {
  type ErrorBody,
  type FundFile,
  type Hex,
  isPoolError,
  PoolError,
  peerCode,
} from '@pool/core';
import type { FunderAnswer, FunderRequest } from '../../ports.ts';
import { isTooLateToRelease } from '../batch/batch-deadline.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import { InterruptedRunError, rethrowInterruption } from '../job/interrupted-run.ts';
import type { DisbursementRecord, RecordedVote } from '../job/record.ts';
import { createRetryEvent, type Run } from '../job/run.ts';

/** What the signer gave. */
export type Given = Exclude<FunderAnswer, { readonly state: 'waiting' | 'ended' }>;

/** How a run waits for a vote. */
export type VoteWait = {
  /** Unix seconds. No signature is of use after it. */
  readonly deadline: number;
  /** Asked before each question. It ends the wait by throwing. */
  readonly check: () => Promise<void>;
};

/** The vote is underway, and the caller does not wait for it. */
export class VotePendingError extends Error {}

/** The longest pause between two questions about one vote. */
const maxPauseMs = 15_000;

/** The file of a batch, as a signer outside this process receives it. Secret. */
export function createFundFile({ manifest, seed, deadline }: DatedBatch): FundFile {
  return { version: 1, manifest, seed, deadline };
}

/**
 * @param wait - how to wait for a vote; `once`: ask and do not wait
 * @throws PoolError `signer_refused`, `signer_expired`, or the error of a signer that needs no vote and does not answer
 * @throws VotePendingError with `once`
 */
export async function askSigner(
  run: Run,
  request: FunderRequest,
  wait: VoteWait | 'once',
): Promise<Given> {
  return run.funder.needsVote
    ? awaitVote(run, request, wait)
    : run.retry(() => askNow(run, request));
}

/** Without the text for the user of a job that fails. */
export function toPoolError({ code, message }: ErrorBody): PoolError {
  return new PoolError(peerCode(code), message);
}

/** A signature as 65 bytes, or a raw transaction. @throws PoolError if the provider sent a transaction of its own */
export function requireSigned(given: Given): Hex {
  if (given.state === 'sent') {
    throw new PoolError('signature_rejected', 'the signer answered with a transaction');
  }
  return given.signed;
}

/** True if the authorisation was asked for, and the signer may have made it. */
export function mayBeSigned({ votes, signature }: DisbursementRecord): boolean {
  const asked = votes?.some(
    ({ kind, hasEnded }) => kind === 'fund-authorization' && hasEnded !== true,
  );
  return asked === true || (votes !== undefined && signature !== undefined);
}

export function findVote(run: Run, request: FunderRequest): RecordedVote | undefined {
  const id = run.funder.identify(request);
  return run.record().votes?.find((vote) => vote.id === id);
}

/** Records that there will be no signature. */
export async function markEnded(run: Run, request: FunderRequest): Promise<void> {
  await changeVote(run, run.funder.identify(request), { hasEnded: true });
}

/**
 * Asked under the lock, so there is no time for a wait: a signer that says that it still works is asked again as after an outage.
 * @throws PoolError `timed_out`, which can be repeated
 */
async function askNow(run: Run, request: FunderRequest): Promise<Given> {
  const answer = await run.funder.ask(request, undefined, run.signal);
  if (answer.state === 'waiting') {
    throw new PoolError(
      'timed_out',
      'the funder signer takes the request and does not sign it, although its kind needs no vote; look at the signer',
      { retryable: true },
    );
  }
  return readGiven(answer);
}

async function awaitVote(
  run: Run,
  request: FunderRequest,
  wait: VoteWait | 'once',
): Promise<Given> {
  // Until the first answer, a refusal of this side is final: no request has left it.
  let isFresh = findVote(run, request) === undefined;
  await keepVote(run, request);
  await run.passFaultPoint('vote.before-ask');
  const outages = createOutageLog(run);
  for (let pauseMs = run.deps.pollMs; ; pauseMs = Math.min(pauseMs * 1.2, maxPauseMs)) {
    if (wait !== 'once') {
      await wait.check();
    }
    const answer = await askOnce(run, request, { outages, isFresh });
    isFresh = false;
    if (answer !== undefined && answer.state !== 'waiting') {
      return readGiven(answer);
    }
    if (wait === 'once') {
      throw new VotePendingError();
    }
    await assertStillUseful(run, wait.deadline);
    await run.announce('awaiting-approval');
    await run.pause(pauseMs);
    await keepVote(run, request);
  }
}

/**
 * @param options - `isFresh`: nothing of the request can be at the provider yet
 * @returns undefined: the signer does not answer now
 */
async function askOnce(
  run: Run,
  request: FunderRequest,
  { outages, isFresh }: { readonly outages: OutageLog; readonly isFresh: boolean },
): Promise<FunderAnswer | undefined> {
  const vote = findVote(run, request);
  let answer: FunderAnswer;
  try {
    answer = await run.funder.ask(request, vote?.providerId, run.signal);
  } catch (error) {
    rethrowInterruption(error);
    if (run.signal.aborted) {
      throw new InterruptedRunError('shutting down or lease lost', { cause: error });
    }
    if (!isPoolError(error) || !error.retryable) {
      throw error;
    }
    await outages.note(error);
    return undefined;
  }
  if (answer.state === 'ended' && answer.isOwn === true && !isFresh) {
    // The configuration of this side has changed. The request that was sent before may still be signed.
    await outages.note(toPoolError(answer.error));
    return undefined;
  }
  await outages.clear();
  await run.passFaultPoint('vote.asked');
  if (answer.state === 'waiting' && vote?.providerId !== answer.providerId) {
    await changeVote(run, run.funder.identify(request), { providerId: answer.providerId });
    await run.passFaultPoint('vote.after-store');
  }
  if (answer.state === 'ended') {
    await markEnded(run, request);
  }
  return answer;
}

function readGiven(answer: FunderAnswer): Given {
  switch (answer.state) {
    case 'ended':
      throw new PoolError(
        peerCode(answer.error.code),
        `${answer.error.message}; nothing was paid: resubmit under a new Idempotency-Key once the signer allows it`,
      );
    case 'waiting':
      throw new VotePendingError();
    case 'signed':
    case 'sent':
      return answer;
  }
}

async function assertStillUseful(run: Run, deadline: number): Promise<void> {
  const ownSeconds = Math.floor(run.deps.clock.nowMs() / 1000);
  // An RPC that does not answer must not end a vote.
  const nowSeconds = await run.now().catch(() => ownSeconds);
  if (isTooLateToRelease(nowSeconds, deadline, run.deps.batchDeadlineSeconds)) {
    throw new PoolError('signer_expired', describeExpiry(run.record().outage));
  }
}

/** @param outage - what kept the vote from ending, if anything did */
function describeExpiry(outage: ErrorBody | undefined): string {
  return outage === undefined
    ? 'the vote on the signature did not end before the deadline of the batch, and nothing was paid; resubmit under a new Idempotency-Key and approve it in time'
    : `no vote on the signature was possible before the deadline of the batch, and nothing was paid (${outage.code}: ${outage.message}); correct that first, then resubmit under a new Idempotency-Key`;
}

/** Stored before each question: from here on, there may be a signature. */
async function keepVote(run: Run, request: FunderRequest): Promise<void> {
  const known = findVote(run, request);
  const askedAtMs = run.deps.clock.nowMs();
  if (known === undefined) {
    const vote: RecordedVote = {
      id: run.funder.identify(request),
      kind: request.kind,
      askedAtMs,
      ...(request.kind === 'permit'
        ? { permitNonce: request.payload.permit.nonce.toString() }
        : {}),
    };
    await run.update({ votes: [...(run.record().votes ?? []), vote] });
  } else if (known.hasEnded === true || known.providerId === undefined) {
    await changeVote(run, known.id, { hasEnded: undefined, askedAtMs });
  }
}

async function changeVote(run: Run, id: string, changes: Partial<RecordedVote>): Promise<void> {
  const votes = run.record().votes ?? [];
  await run.update({
    votes: votes.map((vote) => (vote.id === id ? { ...vote, ...changes } : vote)),
  });
}

type OutageLog = { note(error: PoolError): Promise<void>; clear(): Promise<void> };

/** An outage can last for hours: it is stored and announced when it begins, and when its reason changes. */
function createOutageLog(run: Run): OutageLog {
  let known: string | undefined;
  return {
    async note(error) {
      const { code, message } = error;
      if (code !== known) {
        run.deps.onEvent(createRetryEvent(run.record().stage, error));
      }
      known = code;
      const stored = run.record().outage;
      if (stored?.code !== code || stored.message !== message) {
        await run.update({ outage: { code, message } });
      }
    },
    async clear() {
      known = undefined;
      if (run.record().outage !== undefined) {
        await run.update({ outage: undefined });
      }
    },
  };
}
