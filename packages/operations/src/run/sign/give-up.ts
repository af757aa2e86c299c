/**
 * Gives up a batch, and takes back what was asked for it.
 *
 * - A batch whose authorisation was asked for and is not sent: the request is taken back first. If the signer has signed it already, or
 *   may have, the batch is abandoned: the funder withdraws the authorisation on chain (protocol §8, `voidBatch`), through the platform, and
 *   the job waits until the chain shows that it is dead. Sending the withdrawal decides nothing.
 * - A batch that was sent is abandoned if the platform refuses it for good.
 * - What still waits for a vote when a job ends is taken back, so that nobody is asked for a vote that has no effect. Nothing depends on
 *   it: the chain, or the answer of the signer, has decided the job before.
 *
 * @module
 */
import { type ErrorBody, errorCodeOf, isPoolError, parseEvmAddress, parseField } from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { FunderRequest } from '../../ports.ts';
import { createBatchWire, type DatedBatch, loadDated } from '../batch/batch.ts';
import type { RecordedVote } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import { createPermitRequest } from './allowance.ts';
import { createApprovalRequest, parseRequestedApproval, takeBackRequest } from './approval.ts';
import {
  askForSignature,
  askOnce,
  changeVote,
  createAuthorizationRequest,
  createFundFile,
  mayBeSigned,
  withdrawRequest,
} from './ask-signer.ts';

/**
 * @param error - why the batch is given up
 * @returns false: nothing is signed, and nothing will be. True: the chain decides
 */
export async function abandonBatch(run: Run, error: ErrorBody): Promise<boolean> {
  const dated = mayBeSigned(run.phase) ? await loadDated(run) : undefined;
  if (dated === undefined || (run.phase.kind === 'proved' && !(await takeBack(run, dated)))) {
    return false;
  }
  await run.move('abandoned', { cause: error, approvals: run.given.approvals });
  return true;
}

/**
 * Gives up a released batch that the platform refuses for its deadline. Sending it again would pay it hours later, when nobody expects
 * it. Does nothing for any other answer: the batch may be accepted later.
 * @param refusal - the platform's answer to the settlement
 */
export async function abandonRefused(
  run: Run,
  { deadline }: DatedBatch,
  refusal: unknown,
): Promise<void> {
  if (!isPoolError(refusal) || refusal.code !== 'deadline_too_far') {
    return;
  }
  const until = new Date(deadline * 1000).toISOString();
  const message = `the platform refused the batch because its deadline, ${until}, is further ahead than it accepts, and nothing was paid: lower DISBURSE_VOTE_LIMIT_SECONDS or DISBURSE_BATCH_DEADLINE_SECONDS of this agent, or have the platform's operator raise PLATFORM_VOTE_LIMIT_SECONDS, then resubmit under a new Idempotency-Key (the platform's answer: ${refusal.message})`;
  const cause = { code: refusal.code, message };
  await run.move('abandoned', { cause, approvals: run.given.approvals });
}

/** @returns whether the authorisation is signed, or may still be */
async function takeBack(run: Run, batch: DatedBatch): Promise<boolean> {
  const request = createAuthorizationRequest(batch);
  await run.announce('cancelling');
  for (;;) {
    const answer = await withdrawRequest(run, request);
    if (answer === 'none') {
      await changeVote(run, request, { hasEnded: true });
    }
    if (answer !== 'open') {
      return typeof answer === 'object';
    }
    // After its deadline the chain decides. No answer of the signer is needed.
    if (Math.floor(run.deps.clock.nowMs() / 1000) > batch.deadline) {
      return true;
    }
    await run.pause(2_000);
  }
}

/**
 * Signs the withdrawal once, stores it, sends it. The request to cancel, or the reason to give up, is on disk before this is called.
 * @throws VotePendingError while the signer votes on it: the chain is watched meanwhile
 */
export async function postVoid(run: Run, batch: DatedBatch): Promise<void> {
  if (run.landing.voidSignature === undefined) {
    const request = createVoidRequest(run, batch);
    const voidSignature = await askForSignature(askOnce(run, batch), request);
    const points = { before: 'void.signed', after: 'void.after-store' } as const;
    await run.amend({ voidSignature }, points);
  }
  const { phase, landing, batchNonce, funder } = run;
  if (landing.voidSignature !== undefined) {
    await run.deps.platform.postVoid(run.record.key, {
      chain: batch.manifest.chain,
      funder: funder.address,
      batchNonce,
      signature: landing.voidSignature,
      // The platform may have no settlement of an abandoned batch, so the withdrawal brings it along.
      ...(phase.kind === 'abandoned' ? { batch: createBatchWire(batch, phase.proved) } : {}),
    });
    await run.passFaultPoint('void.posted');
  }
}

/** The withdrawal as the funder signs it, with the file that it follows from. */
function createVoidRequest({ funder, batchNonce }: Run, batch: DatedBatch): FunderRequest {
  const { chainId, pool } = batch.manifest;
  return {
    kind: 'void',
    payload: {
      ...{ chainId, pool: parseEvmAddress(pool) },
      ...{ funder: funder.address, batchNonce: parseField(batchNonce) },
    },
    file: createFundFile(batch),
  };
}

/**
 * Takes back what still waits for a vote. Tries once for each request. A failure is reported and not thrown. Called when the outcome of
 * the job is known, and ends its turn: a custodian that hangs, or a request that may still be on its way to it, can take a minute.
 */
export async function withdrawRequests(run: Run): Promise<void> {
  if (!run.mayChangeAllowance) {
    run.approvalHold.end();
    run.hold.end();
  }
  for (const vote of run.given.votes) {
    if (mayWait(run, vote)) {
      await withdraw(run, vote);
    }
  }
}

/** True unless its answer is stored. */
function mayWait(
  { given: { signature, permit, approvalRequest }, landing }: Run,
  { kind, hasEnded, permitNonce }: RecordedVote,
): boolean {
  const isAnswered: Readonly<Record<typeof kind, boolean>> = {
    'fund-authorization': signature !== undefined,
    void: landing.voidSignature !== undefined,
    permit: permit !== undefined && (permitNonce ?? permit.nonce) === permit.nonce,
    // Any earlier one was given, or was taken back before the next one was asked for.
    'token-approval': approvalRequest === undefined,
  };
  return hasEnded !== true && !isAnswered[kind];
}

async function withdraw(run: Run, vote: RecordedVote): Promise<void> {
  const { id, kind } = vote;
  let code: string | undefined;
  const note = (error: unknown): void => {
    code = errorCodeOf(error) ?? 'internal_error';
  };
  try {
    const batch = await loadDated(run);
    const request = batch === undefined ? undefined : rebuild(run, batch, vote);
    if (batch === undefined || request === undefined || run.funder.identify(request) !== id) {
      // An approval that was replaced is not asked for any more.
      if (kind === 'token-approval') {
        return;
      }
      code = 'job_unreadable';
    } else if (kind === 'token-approval') {
      const isBack = await takeBackRequest(run, batch, note);
      code ??= isBack ? undefined : 'awaiting-approval';
    } else {
      const answer = await withdrawRequest(run, request, note);
      code ??= answer === 'open' ? 'awaiting-approval' : undefined;
    }
  } catch (error) {
    rethrowInterruption(error);
    note(error);
  }
  if (code !== undefined) {
    run.deps.onEvent({ kind: 'not-withdrawn', request: kind, code });
  } else if (run.given.votes.find((one) => one.id === id)?.hasEnded === true) {
    run.deps.onEvent({ kind: 'withdrawn', request: kind });
  }
}

/** The request as it was asked for. Undefined: the record does not have all of it. */
function rebuild(
  run: Run,
  batch: DatedBatch,
  { kind, permitNonce }: RecordedVote,
): FunderRequest | undefined {
  const { approvalRequest } = run.given;
  const requests: Readonly<Record<typeof kind, () => FunderRequest | undefined>> = {
    'fund-authorization': () => createAuthorizationRequest(batch),
    void: () => createVoidRequest(run, batch),
    permit: () =>
      permitNonce === undefined ? undefined : createPermitRequest(run, batch, BigInt(permitNonce)),
    'token-approval': () =>
      approvalRequest === undefined
        ? undefined
        : createApprovalRequest(run, batch, parseRequestedApproval(approvalRequest)),
  };
  return requests[kind]();
}
