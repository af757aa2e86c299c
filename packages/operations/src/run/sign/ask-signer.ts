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
  parseEvmAddress,
  peerCode,
} from '@pool/core';
import { isTooLateToLeave, rethrowInterruption } from '@pool/idempotency/engine';
import type { FunderAnswer, FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import type { Phase, RecordedVote } from '../job/phases.ts';
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

/** The authorisation of a batch as the funder signs it, with the file that it follows from. */
export function createAuthorizationRequest(batch: DatedBatch): FunderRequest {
  const { manifest, plan, deadline } = batch;
  return {
    kind: 'fund-authorization',
    payload: {
      chainId: manifest.chainId,
      pool: parseEvmAddress(manifest.pool),
      authorization: {
        funder: parseEvmAddress(manifest.funder),
        token: parseEvmAddress(manifest.token),
        total: plan.total,
        batchRoot: plan.batchRoot,
        batchNonce: plan.batchNonce,
        sealedNotesHash: plan.sealedNotesHash,
        deadline: BigInt(deadline),
      },
    },
    file: createFundFile(batch),
  };
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
function toPoolError({ code, message }: ErrorBody): PoolError {
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
export function mayBeSigned(phase: Phase): boolean {
  return (
    'votes' in phase &&
    (('signature' in phase && phase.votes.length > 0) ||
      phase.votes.some(({ kind, hasEnded }) => kind === 'fund-authorization' && hasEnded !== true))
  );
}

export function findVote(run: Run, request: FunderRequest): RecordedVote | undefined {
  const id = run.funder.identify(request);
  return run.given().votes.find((vote) => vote.id === id);
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
    rethrowInterruption(error, run.signal);
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
  if (isTooLateToLeave(nowSeconds, deadline, run.deps.batchDeadlineSeconds)) {
    throw new PoolError('signer_expired', describeExpiry(run.given().outage));
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
    await run.amend({ votes: [...run.given().votes, vote] });
  } else if (known.hasEnded === true || known.providerId === undefined) {
    await changeVote(run, known.id, { hasEnded: undefined, askedAtMs });
  }
}

async function changeVote(run: Run, id: string, changes: Partial<RecordedVote>): Promise<void> {
  await run.amend({
    votes: run.given().votes.map((vote) => (vote.id === id ? { ...vote, ...changes } : vote)),
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
      const stored = run.given().outage;
      if (stored?.code !== code || stored.message !== message) {
        await run.amend({ outage: { code, message } });
      }
    },
    async clear() {
      known = undefined;
      if (run.given().outage !== undefined) {
        await run.amend({ outage: undefined });
      }
    },
  };
}

/** A create that was cut off may still be on its way, and lists of a provider lag behind, milliseconds. */
const lateCreateMs = 60_000;

/**
 * Does not believe that the provider has no such request while a question for it may still be on its way.
 * @param onOutage - called with the reason before the answer `unknown`. Default: the log says that the job tries again
 */
export async function withdrawRequest(
  run: Run,
  request: FunderRequest,
  onOutage = (error: unknown): void =>
    run.deps.onEvent(createRetryEvent(run.record().stage, error)),
): Promise<FunderAnswer | 'none' | 'unknown'> {
  for (;;) {
    const answer = await withdrawOnce(run, request, onOutage);
    const askedAtMs = findVote(run, request)?.askedAtMs ?? 0;
    if (answer !== 'none' || run.deps.clock.nowMs() >= askedAtMs + lateCreateMs) {
      return answer;
    }
    await run.pause(Math.max(run.deps.pollMs, 2_000));
  }
}

/** @returns `none`: the provider shows no such request. `unknown`: it does not answer, or this side refuses to ask it */
async function withdrawOnce(
  run: Run,
  request: FunderRequest,
  onOutage: (error: unknown) => void,
): Promise<FunderAnswer | 'none' | 'unknown'> {
  let answer: FunderAnswer | undefined;
  try {
    const providerId = findVote(run, request)?.providerId;
    answer = await run.funder.withdraw(request, providerId, run.signal);
  } catch (error) {
    rethrowInterruption(error, run.signal);
    onOutage(error);
    if (isPoolError(error)) {
      return 'unknown';
    }
    throw error;
  }
  if (answer?.state === 'ended' && answer.isOwn === true) {
    onOutage(toPoolError(answer.error));
    return 'unknown';
  }
  await run.passFaultPoint('vote.withdrawn');
  return answer ?? 'none';
}
