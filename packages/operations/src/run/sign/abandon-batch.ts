/**
 * Gives up a batch whose authorisation was asked for and is not sent. The request is taken back first. If the signer has signed it
 * already, or may have, the batch is abandoned: the funder withdraws the authorisation (`voidBatch`), and the job waits until the
 * chain shows that it is dead. A batch that was sent is abandoned if the platform refuses it for good.
 *
 * @module
 */
import { type ErrorBody, isPoolError } from '@pool/core';
import { type DatedBatch, loadDated } from '../batch/release-record.ts';
import type { Run } from '../job/run.ts';
import {
  createAuthorizationRequest,
  markEnded,
  mayBeSigned,
  withdrawRequest,
} from './ask-signer.ts';

/**
 * @param error - why the batch is given up
 * @returns the batch to watch. Undefined: nothing is signed, and nothing will be
 */
export async function abandonBatch(run: Run, error: ErrorBody): Promise<DatedBatch | undefined> {
  if (!mayBeSigned(run.phase())) {
    return undefined;
  }
  const dated = await loadDated(run);
  if (dated === undefined) {
    return undefined;
  }
  if (run.phase().kind === 'proved' && !(await takeBack(run, dated))) {
    return undefined;
  }
  await giveUp(run, error);
  return dated;
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
  await giveUp(run, { code: refusal.code, message });
}

function giveUp(run: Run, { code, message }: ErrorBody): Promise<void> {
  return run.move('abandoned', { cause: { code, message }, approvals: run.given().approvals });
}

/** @returns whether the authorisation is signed, or may still be */
async function takeBack(run: Run, batch: DatedBatch): Promise<boolean> {
  const request = createAuthorizationRequest(batch);
  await run.announce('cancelling');
  for (;;) {
    const answer = await withdrawRequest(run, request);
    if (answer === 'none' || (answer !== 'unknown' && answer.state === 'ended')) {
      await markEnded(run, request);
      return false;
    }
    if (answer !== 'unknown' && answer.state !== 'waiting') {
      return true;
    }
    // After its deadline the chain decides. No answer of the signer is needed.
    if (Math.floor(run.deps.clock.nowMs() / 1000) > batch.deadline) {
      return true;
    }
    await run.pause(Math.max(run.deps.pollMs, 2_000));
  }
}
