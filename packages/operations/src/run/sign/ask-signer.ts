/**
 * Asks the signer of the funder. A signer that needs a vote answers after minutes or hours: the request is stored before it is sent,
 * so a restart waits for the same request, and neither an outage of the signer nor a long vote fails the job. Only the signer's own
 * answer and the deadline of the batch end the wait. A signer that needs no vote has the time of an outage to answer, and no more.
 *
 * @module
 */
import {
  type FundFile,
  type Hex,
  isPoolError,
  PoolError,
  parseEvmAddress,
  peerCode,
} from '@pool/core';
import { isTooLateToLeave, rethrowInterruption } from '@pool/idempotency/engine';
import type { FunderAnswer, FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/batch.ts';
import type { Phase, RecordedVote } from '../job/phases.ts';
import type { Run } from '../job/run.ts';

/** What the signer gave. */
export type Given = Exclude<FunderAnswer, { readonly state: 'waiting' | 'ended' }>;

/** The batch that a request belongs to, and how to wait for a vote on it. */
export type Asking = {
  readonly run: Run;
  readonly batch: DatedBatch;
  /** Unix seconds. No signature is of use after it. Default: the deadline of the batch. */
  readonly deadline?: number;
  /** Asked before each question. It ends the wait by throwing. */
  readonly check: () => Promise<void>;
  /** Ask, and do not wait: {@link VotePendingError} ends what would wait for people. */
  readonly isOnce?: true;
};

/** For a batch that is out: the chain is watched while people vote. */
export function askOnce(run: Run, batch: DatedBatch): Asking {
  return { run, batch, isOnce: true, check: async () => undefined };
}

/** The vote is underway, and the caller does not wait for it. */
class VotePendingError extends Error {}

/** @throws VotePendingError where the caller does not wait, and tries again later */
export function assertMayWait({ isOnce }: Asking): void {
  if (isOnce === true) {
    throw new VotePendingError();
  }
}

/** With the answer `voting` where {@link VotePendingError} is thrown. */
export async function orVoting<T>(work: Promise<T>): Promise<T | 'voting'> {
  return work.catch((error: unknown) => {
    if (error instanceof VotePendingError) {
      return 'voting' as const;
    }
    throw error;
  });
}

/** The longest pause between two questions about one vote. */
const maxPauseMs = 15_000;

/** The file of a batch, as a signer outside this process receives it. Secret. */
export function createFundFile({ manifest, seed, deadline }: DatedBatch): FundFile {
  return { version: 1, manifest, seed, deadline };
}

/** The authorisation of a batch as the funder signs it, with the file that it follows from. */
export function createAuthorizationRequest(batch: DatedBatch): FunderRequest {
  const { manifest, plan, deadline } = batch;
  const { total, batchRoot, batchNonce, sealedNotesHash } = plan;
  return {
    kind: 'fund-authorization',
    payload: {
      chainId: manifest.chainId,
      pool: parseEvmAddress(manifest.pool),
      authorization: {
        funder: parseEvmAddress(manifest.funder),
        token: parseEvmAddress(manifest.token),
        ...{ total, batchRoot, batchNonce, sealedNotesHash, deadline: BigInt(deadline) },
      },
    },
    file: createFundFile(batch),
  };
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
  return run.given.votes.find((vote) => vote.id === id);
}

/** Records what is known of a request now, if it is stored. */
export async function changeVote(
  run: Run,
  request: FunderRequest,
  changes: Partial<RecordedVote>,
): Promise<void> {
  const id = run.funder.identify(request);
  const votes = run.given.votes.map((vote) => (vote.id === id ? { ...vote, ...changes } : vote));
  await run.amend({ votes }, changes.providerId === undefined ? {} : { after: 'vote.after-store' });
}

/** {@link ask} for a signature: 65 bytes, or a raw transaction. @throws PoolError if the provider sent a transaction of its own */
export async function askForSignature(asking: Asking, request: FunderRequest): Promise<Hex> {
  const given = await ask(asking, request);
  if (given.state === 'sent') {
    throw new PoolError('signature_rejected', 'the signer answered with a transaction');
  }
  return given.signed;
}

/**
 * @throws PoolError `signer_refused`, `signer_expired`, or the error of a signer that needs no vote and does not answer
 * @throws VotePendingError with `once`
 */
export async function ask(asking: Asking, request: FunderRequest): Promise<Given> {
  const { run } = asking;
  const answer = await (run.funder.needsVote
    ? awaitVote(asking, request)
    : run.retry(() => askNow(run, request)));
  if (answer.state === 'ended') {
    throw new PoolError(
      peerCode(answer.error.code),
      `${answer.error.message}; nothing was paid: resubmit under a new Idempotency-Key once the signer allows it`,
    );
  }
  return answer;
}

type Answered = Exclude<FunderAnswer, { readonly state: 'waiting' }>;

/**
 * Asked under the lock, so there is no time for a wait: a signer that says that it still works is asked again as after an outage.
 * @throws PoolError `timed_out`, which can be repeated
 */
async function askNow({ funder, signal }: Run, request: FunderRequest): Promise<Answered> {
  const answer = await funder.ask(request, undefined, signal);
  if (answer.state === 'waiting') {
    throw new PoolError(
      'timed_out',
      'the funder signer takes the request and does not sign it, although its kind needs no vote; look at the signer',
      { retryable: true },
    );
  }
  return answer;
}

async function awaitVote(asking: Asking, request: FunderRequest): Promise<Answered> {
  const { run, batch, check, deadline = batch.deadline } = asking;
  // Until the first answer, a refusal of this side is final: no request has left it.
  let isFresh = findVote(run, request) === undefined;
  let announced: string | undefined;

  async function note(error?: PoolError): Promise<void> {
    await noteOutage(run, error, announced);
    announced = error?.code;
  }

  for (let pauseMs = run.deps.pollMs; ; pauseMs = Math.min(pauseMs * 1.2, maxPauseMs)) {
    await keepVote(run, request);
    await run.passFaultPoint('vote.before-ask');
    await check();
    const answer = await exchange(run, request, { verb: 'ask', isFresh, noteOutage: note });
    isFresh = false;
    if (typeof answer === 'object' && answer.state !== 'waiting') {
      return answer;
    }
    assertMayWait(asking);
    await assertStillUseful(run, deadline);
    await run.announce('awaiting-approval');
    await run.pause(pauseMs);
  }
}

/**
 * An outage can last for hours: it is stored and announced when it begins, and when its reason changes.
 * @param error - undefined: it is over
 * @param announced - its code, if this run has announced it
 */
export async function noteOutage(run: Run, error?: PoolError, announced?: string): Promise<void> {
  if (error !== undefined && error.code !== announced) {
    run.announceRetry(error);
  }
  const { outage } = run.given;
  if (outage?.code !== error?.code || outage?.message !== error?.message) {
    await run.amend({ outage: error && { code: error.code, message: error.message } });
  }
}

/**
 * One call of the signer about a request, and what is stored of its answer.
 * @returns undefined: the provider has no such request. `outage`: it gave no answer, which was noted
 */
async function exchange(
  run: Run,
  request: FunderRequest,
  call: {
    readonly verb: 'ask' | 'withdraw';
    /** The request never left this side, so its own refusal is final. */
    readonly isFresh?: boolean;
    /** Called with the reason, or with nothing when there is an answer again. */
    readonly noteOutage: (error?: PoolError) => unknown;
  },
): Promise<FunderAnswer | 'outage' | undefined> {
  const { verb, isFresh = false, noteOutage } = call;
  const providerId = findVote(run, request)?.providerId;
  let answer: FunderAnswer | undefined;
  try {
    answer = await run.funder[verb](request, providerId, run.signal);
  } catch (error) {
    rethrowInterruption(error, run.signal);
    if (!isPoolError(error) || (verb === 'ask' && !error.retryable)) {
      throw error;
    }
    await noteOutage(error);
    return 'outage';
  }
  if (answer?.state === 'ended' && answer.isOwn === true && !isFresh) {
    // The configuration of this side has changed. The request that was sent before may still be signed.
    await noteOutage(new PoolError(peerCode(answer.error.code), answer.error.message));
    return 'outage';
  }
  await noteOutage();
  await run.passFaultPoint(verb === 'ask' ? 'vote.asked' : 'vote.withdrawn');
  if (answer?.state === 'ended') {
    await changeVote(run, request, { hasEnded: true });
  } else if (verb === 'ask' && answer?.state === 'waiting' && answer.providerId !== providerId) {
    await changeVote(run, request, { providerId: answer.providerId });
  }
  return answer;
}

export async function assertStillUseful(run: Run, deadline: number): Promise<void> {
  const ownSeconds = Math.floor(run.deps.clock.nowMs() / 1000);
  // An RPC that does not answer must not end a vote.
  const nowSeconds = await run.now().catch(() => ownSeconds);
  if (isTooLateToLeave(nowSeconds, deadline, run.deps.batchDeadlineSeconds)) {
    const { outage } = run.given;
    throw new PoolError(
      'signer_expired',
      outage === undefined
        ? 'the vote on the signature did not end before the deadline of the batch, and nothing was paid; resubmit under a new Idempotency-Key and approve it in time'
        : `no vote on the signature was possible before the deadline of the batch, and nothing was paid (${outage.code}: ${outage.message}); correct that first, then resubmit under a new Idempotency-Key`,
    );
  }
}

/** Stored before each question: from here on, there may be a signature. */
async function keepVote(run: Run, request: FunderRequest): Promise<void> {
  const known = findVote(run, request);
  const askedAtMs = run.deps.clock.nowMs();
  if (known === undefined) {
    const vote: RecordedVote = {
      ...{ id: run.funder.identify(request), kind: request.kind, askedAtMs },
      ...(request.kind === 'permit'
        ? { permitNonce: request.payload.permit.nonce.toString() }
        : {}),
    };
    await run.amend({ votes: [...run.given.votes, vote] });
  } else if (known.hasEnded === true || known.providerId === undefined) {
    await changeVote(run, request, { hasEnded: undefined, askedAtMs });
  }
}

/** A create that was cut off may still be on its way, and lists of a provider lag behind, milliseconds. */
const lateCreateMs = 60_000;

/**
 * Takes back a request that may wait for a vote. Does not believe that the provider has no such request while a question for it may
 * still be on its way.
 * @param onOutage - called with the reason why the signer cannot be asked. Default: the log says that the job tries again
 * @returns `none`: the provider shows no such request. `ended`: there will be no signature, which is stored. `open`: it may still be given
 */
export async function withdrawRequest(
  run: Run,
  request: FunderRequest,
  onOutage: (error: unknown) => void = run.announceRetry,
): Promise<Given | 'none' | 'ended' | 'open'> {
  const noteOutage = (error?: PoolError): void =>
    error === undefined ? undefined : onOutage(error);
  for (;;) {
    const answer = await exchange(run, request, { verb: 'withdraw', noteOutage });
    if (answer === 'outage' || answer?.state === 'waiting') {
      return 'open';
    }
    if (answer !== undefined) {
      return answer.state === 'ended' ? 'ended' : answer;
    }
    const askedAtMs = findVote(run, request)?.askedAtMs ?? 0;
    if (run.deps.clock.nowMs() >= askedAtMs + lateCreateMs) {
      return 'none';
    }
    await run.pause(2_000);
  }
}
