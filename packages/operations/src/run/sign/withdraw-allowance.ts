/**
 * Takes back the approval of a job whose batch is not paid (docs/decisions/0007).
 *
 * @module
 */
import { describeAmountOf, PoolError } from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import { type DatedBatch, loadDated } from '../batch/release-record.ts';
import type { Run } from '../job/run.ts';
import { approve, replaceApproval, takeBackRequest } from './give-approval.ts';
import { mayChangeAllowance, readApproval, settleApproval } from './pending-approval.ts';

/** For the user: the allowance may be left, or may still be given. */
export const notTakenBack =
  'the approval given for this batch could not be taken back: set the allowance of the pool to 0';

/**
 * Takes back the approval of this job when its batch will not be paid.
 * @returns the text for the user when an allowance is left or may be left. Undefined: none is
 */
export async function withdrawAllowance(run: Run): Promise<string | undefined> {
  try {
    if (!(await stopRequest(run))) {
      return notTakenBack;
    }
    if (run.given().approvals.length === 0) {
      return await describePermit(run);
    }
    await resetAllowance(run);
    return undefined;
  } catch (error) {
    rethrowInterruption(error);
    return notTakenBack;
  }
}

/** Looks once whether the approval of a batch that is given up can be stopped. Other batches wait until its end is known. */
export async function stopApproval(run: Run, batch: DatedBatch): Promise<void> {
  if (mayChangeAllowance(run)) {
    await takeBackRequest(run, batch);
    await readApproval(run);
  }
}

async function stopRequest(run: Run): Promise<boolean> {
  const { approvalRequest, approvals } = run.given();
  const isReset = approvalRequest?.value === '0' && approvals.length > 0;
  const batch = approvalRequest === undefined || isReset ? undefined : await loadDated(run);
  return batch === undefined || (await takeBackRequest(run, batch));
}

/** The allowance may serve another batch by now: only the holder of the lock touches it. */
async function resetAllowance(run: Run): Promise<void> {
  await run.awaitTurn('approving-allowance');
  const { chain } = run.context;
  const deadline = Math.floor(run.deps.clock.nowMs() / 1000) + run.deps.voteLimitSeconds;
  const wait = { deadline, check: async () => undefined };
  for (;;) {
    const isStuck = (await settleApproval(run)) === 'stuck';
    if (isStuck && run.given().approvals.at(-1)?.rawTransaction === undefined) {
      throw new PoolError('approval_failed', 'the signer sent an approval that is not mined');
    }
    if (
      !isStuck &&
      (await run.retry(() => chain.fetchAllowance(run.token, run.funder.address))) === 0n
    ) {
      return;
    }
    const batch = await loadDated(run);
    if (batch === undefined) {
      throw new PoolError('job_unreadable', 'the batch of the approval is not in the job store');
    }
    // With the nonce of an approval that is stuck, nothing is left of it.
    const reset = isStuck ? replaceApproval : approve;
    if ((await reset(run, batch, wait, 0n)) === 'mined') {
      return;
    }
  }
}

/**
 * Anyone who saw a permit that was sent, for example in a mempool, can use it, even after its batch was withdrawn. The
 * allowance alone pays nothing: the pool takes nothing without another signature of the funder.
 * @returns the text for the user. Undefined: no allowance is left, and none can appear
 */
async function describePermit(run: Run): Promise<string | undefined> {
  const phase = run.phase();
  const { permit } = run.given();
  // It leaves this agent together with the authorisation.
  if (permit === undefined || !('releasedAtMs' in phase)) {
    return undefined;
  }
  const { chain } = run.context;
  try {
    const nonce = await chain.fetchPermitNonce(run.token, run.funder.address);
    if (nonce.toString() === permit.nonce) {
      return (await run.now()) > permit.wire.deadline
        ? undefined
        : `its permit can still be used until ${new Date(permit.wire.deadline * 1000).toISOString()} by anyone who saw it, which gives the pool an allowance and pays nobody; check it after that time, and set the allowance of the pool to 0 if it is not`;
    }
    const allowance = await chain.fetchAllowance(run.token, run.funder.address);
    return allowance === 0n
      ? undefined
      : `the pool has an allowance of ${describeAmountOf(run.context.settings.tokens, run.token, allowance)} over the funder's tokens, which the permit of this batch may have left; if no other payment needs it, set the allowance of the pool to 0`;
  } catch (error) {
    rethrowInterruption(error);
    return 'the chain did not answer whether the permit of this batch left an allowance; check it, and set the allowance of the pool to 0 if it is not';
  }
}
