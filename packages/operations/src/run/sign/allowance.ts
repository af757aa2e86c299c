/**
 * Gives the pool an allowance of exactly the batch total (docs/decisions/0007): an EIP-2612 permit where the token has it, else an
 * `approve` transaction of the funder. Takes it back where the batch is not paid. Called under the (chain, token, funder) lock.
 *
 * @module
 */
import { assertAmount, bytesToHex32, describeAmountOf, hexToBytes, PoolError } from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import { describeOutsideApproval } from '../../check/preflight.ts';
import type { FunderRequest } from '../../ports.ts';
import { type DatedBatch, loadDated } from '../batch/batch.ts';
import { hasLeft } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import {
  approve,
  dropRequest,
  freeAccount,
  readApproval,
  settleApproval,
  takeBackRequest,
} from './approval.ts';
import {
  type Asking,
  askForSignature,
  assertMayWait,
  assertStillUseful,
  createFundFile,
  noteOutage,
} from './ask-signer.ts';

/**
 * Makes sure that the pool may take the total. Decides after a fresh read. Safe to call again. The lock is held during a vote, except
 * during the first one on a permit.
 * @returns `look-again`: a vote took its time, so lock, money, allowance and proof have to be looked at again
 */
export async function grantAllowance(asking: Asking): Promise<'granted' | 'look-again'> {
  const { run } = asking;
  let isKept = false;
  try {
    for (;;) {
      let step = await grantOnce(asking);
      while (step === 'stuck') {
        const stuck = run.given.approvals.at(-1);
        step = await approve(asking, BigInt(stuck?.value ?? 0), stuck);
      }
      if (step === 'granted') {
        return step;
      }
      if (run.funder.needsVote) {
        // A batch that looks again keeps its place, or two that wait could give it to each other for ever.
        isKept = true;
        return 'look-again';
      }
      if (step === 'mined' && run.given.approvals.at(-1)?.value === run.total.toString()) {
        return 'granted';
      }
    }
  } finally {
    if (!isKept) {
      freeAccount(run);
    }
  }
}

async function grantOnce(asking: Asking): Promise<'granted' | 'mined' | 'look-again' | 'stuck'> {
  const { run } = asking;
  if ((await settleApproval(run)) === 'stuck') {
    return 'stuck';
  }
  const allowance = await run.chain.fetchAllowance(run.token, run.funder.address);
  if (allowance >= run.total) {
    return run.given.approvalRequest === undefined ? 'granted' : dropRequest(asking);
  }
  if (hasLeft(run.phase)) {
    const { funded, pending } = await run.chain.fetchNonceState(run.funder.address, run.batchNonce);
    if (pending || funded !== undefined) {
      // It landed before the allowance was read, and took it. Another allowance would be left.
      return 'granted';
    }
  }
  if (run.funder.approvesOutside === true) {
    return awaitOutsideAllowance(asking, allowance);
  }
  const { permitName, permitVersion, zeroFirst } = run.tokenSettings;
  if (permitName !== undefined && permitVersion !== undefined) {
    return signPermit(asking);
  }
  if (allowance > 0n && zeroFirst === true) {
    const step = await approve(asking, 0n);
    if (step !== 'mined' || run.funder.needsVote) {
      return step;
    }
  }
  return approve(asking, run.total);
}

/**
 * A contract wallet gives the allowance by a transaction of its own. Nothing else of this funder waits for it meanwhile.
 * @throws PoolError `signer_expired` at the deadline, with the call that is missing
 */
async function awaitOutsideAllowance(asking: Asking, allowance: bigint): Promise<'look-again'> {
  const { run, batch, check, deadline = batch.deadline } = asking;
  assertMayWait(asking);
  const { context, token, tokenSettings, total, funder } = run;
  const target = { context, token: tokenSettings, total: assertAmount(total) };
  const message = describeOutsideApproval(target, funder.address, allowance);
  await noteOutage(run, new PoolError('allowance_outside', message));
  run.hold.release();
  for (;;) {
    await check();
    await assertStillUseful(run, deadline);
    const seen = await run.chain.fetchAllowance(token, funder.address);
    if (seen >= total) {
      await noteOutage(run);
      await run.awaitTurn('approving-allowance');
      return 'look-again';
    }
    await run.pause();
  }
}

/**
 * The permit as the funder signs it, with the file of its batch.
 * @param nonce - of the funder at the token
 * @returns undefined: the token has no permits
 */
export function createPermitRequest(
  run: Run,
  batch: DatedBatch,
  nonce: bigint,
): FunderRequest | undefined {
  const { token, total, funder, tokenSettings } = run;
  const { permitName: name, permitVersion: version } = tokenSettings;
  const { chainId, pool } = run.context.settings;
  const deadline = BigInt(batch.deadline);
  return name === undefined || version === undefined
    ? undefined
    : {
        kind: 'permit',
        payload: {
          domain: { name, version, chainId, verifyingContract: token },
          permit: { owner: funder.address, spender: pool, value: total, nonce, deadline },
          expected: { chainId, token, pool, total },
        },
        file: createFundFile(batch),
      };
}

/**
 * Signs the permit again if the token no longer accepts its nonce. A vote must not block other batches, so the lock is free while it
 * lasts. Of the batches that ask meanwhile one can use its permit, and the others ask once more: then they keep the lock, and no other
 * batch uses their nonce.
 */
async function signPermit(asking: Asking): Promise<'granted' | 'look-again'> {
  const { run, batch, isOnce } = asking;
  const nonce = await run.chain.fetchPermitNonce(run.token, run.funder.address);
  const request = createPermitRequest(run, batch, nonce);
  if (request === undefined || run.given.permit?.nonce === nonce.toString()) {
    return 'granted';
  }
  const id = run.funder.identify(request);
  const isRepeated = run.given.votes.some((vote) => vote.kind === 'permit' && vote.id !== id);
  const isLockFree = run.funder.needsVote && isOnce !== true && !isRepeated;
  if (isLockFree) {
    run.hold.release();
  }
  const bytes = hexToBytes(await askForSignature(asking, request), 65);
  if (isLockFree) {
    await run.awaitTurn();
    await run.announce('approving-allowance');
  }
  const permit = {
    nonce: nonce.toString(),
    wire: {
      value: run.total.toString(),
      deadline: batch.deadline,
      v: bytes[64] === 27 ? 27 : 28,
      r: bytesToHex32(bytes.subarray(0, 32)),
      s: bytesToHex32(bytes.subarray(32, 64)),
    },
  } as const;
  await run.amend({ permit }, { before: 'permit.signed', after: 'permit.after-store' });
  return run.funder.needsVote ? 'look-again' : 'granted';
}

/** For the user: the allowance may be left, or may still be given. */
export const notTakenBack =
  'the approval given for this batch could not be taken back: set the allowance of the pool to 0';

/**
 * Takes back the approval of this job when its batch will not be paid.
 * @returns the text for the user when an allowance is left or may be left. Undefined: none is
 */
export async function withdrawAllowance(run: Run): Promise<string | undefined> {
  try {
    const { approvalRequest, approvals } = run.given;
    const isReset = approvalRequest?.value === '0' && approvals.length > 0;
    const batch = approvalRequest === undefined || isReset ? undefined : await loadDated(run);
    if (batch !== undefined && !(await takeBackRequest(run, batch))) {
      return notTakenBack;
    }
    if (run.given.approvals.length === 0) {
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
  if (run.mayChangeAllowance) {
    await takeBackRequest(run, batch);
    await readApproval(run);
  }
}

/** The allowance may serve another batch by now: only the holder of the lock touches it. */
async function resetAllowance(run: Run): Promise<void> {
  await run.awaitTurn('approving-allowance');
  const deadline = Math.floor(run.deps.clock.nowMs() / 1000) + run.deps.voteLimitSeconds;
  const check = async (): Promise<void> => undefined;
  for (;;) {
    const isStuck = (await settleApproval(run, true)) === 'stuck';
    // With the nonce of an approval that is stuck, nothing is left of it.
    const stuck = isStuck ? run.given.approvals.at(-1) : undefined;
    if (isStuck && stuck?.rawTransaction === undefined) {
      throw new PoolError('approval_failed', 'the signer sent an approval that is not mined');
    }
    if (!isStuck && (await run.chain.fetchAllowance(run.token, run.funder.address)) === 0n) {
      return;
    }
    const batch = await loadDated(run);
    if (batch === undefined) {
      throw new PoolError('job_unreadable', 'the batch of the approval is not in the job store');
    }
    if ((await approve({ run, batch, deadline, check }, 0n, stuck)) === 'mined') {
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
  const { permit } = run.given;
  // It leaves this agent together with the authorisation.
  if (permit === undefined || !('releasedAtMs' in run.phase)) {
    return undefined;
  }
  const { chain, settings } = run.context;
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
      : `the pool has an allowance of ${describeAmountOf(settings.tokens, run.token, allowance)} over the funder's tokens, which the permit of this batch may have left; if no other payment needs it, set the allowance of the pool to 0`;
  } catch (error) {
    rethrowInterruption(error);
    return 'the chain did not answer whether the permit of this batch left an allowance; check it, and set the allowance of the pool to 0 if it is not';
  }
}
