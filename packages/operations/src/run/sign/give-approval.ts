/**
 * One `approve` transaction of the funder: asked for, stored, sent, and replaced with higher fees where it is not mined.
 *
 * The lock is held from the question to the end, and with it the lock of the funder's account. Of several approvals with one account
 * nonce only one can be mined, of whatever token, so asking for two at once gains nothing; and a custodian that sends approvals itself does
 * so whenever its vote ends (docs/decisions/0015).
 *
 * An approval is stored signed before it is sent, so a crash sends the same transaction again instead of a second one.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { ApprovalTransaction, FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import type { RecordedApproval } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import {
  askSigner,
  createFundFile,
  findVote,
  markEnded,
  VotePendingError,
  type VoteWait,
  withdrawRequest,
} from './ask-signer.ts';
import {
  mayChangeAllowance,
  parseRequestedApproval,
  raiseFees,
  readApproval,
  readFees,
  recordApproval,
  serializeApproval,
  settleApproval,
} from './pending-approval.ts';

/** `look-again`: nothing is known about the allowance. `stuck`: the transaction is not mined. */
export type ApprovalStep = 'mined' | 'look-again' | 'stuck';

/** How often an approval may be sent again with higher fees. */
const maxReplacements = 3;

/** Asks for `approve(pool, value)`, stores it, sends it, and waits until it is mined. Called under the lock. */
export async function approve(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  value: bigint,
): Promise<ApprovalStep> {
  if (!(await takeAccount(run, wait))) {
    return 'look-again';
  }
  const known = run.given().approvalRequest;
  if (known !== undefined && known.value !== value.toString()) {
    return dropRequest(run, batch, wait);
  }
  const transaction =
    known === undefined
      ? await run.retry(() =>
          run.context.chain.prepareApproval(run.token, run.funder.address, value),
        )
      : parseRequestedApproval(known);
  return give(run, batch, wait, transaction);
}

/**
 * Asks for the transaction that replaces the newest approval: the same account nonce, and higher fees.
 * @param value - of the replacement
 * @throws PoolError `approval_failed` if it cannot be replaced
 */
export async function replaceApproval(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  value: bigint,
): Promise<ApprovalStep> {
  const stuck = run.given().approvals.at(-1);
  if (stuck?.rawTransaction === undefined || stuck.nonce === undefined) {
    // The signer's provider sent it, and raises its fees.
    return wait === 'once' ? letVote() : 'look-again';
  }
  if (!(await takeAccount(run, wait))) {
    return 'look-again';
  }
  const known = run.given().approvalRequest;
  if (known !== undefined && (known.value !== value.toString() || known.nonce !== stuck.nonce)) {
    return dropRequest(run, batch, wait);
  }
  const transaction =
    known === undefined
      ? await createReplacement(run, stuck.rawTransaction, stuck.nonce, value)
      : parseRequestedApproval(known);
  try {
    return await give(run, batch, watchMempool(run, wait), transaction);
  } catch (error) {
    if (error instanceof NotNeededError) {
      return 'look-again';
    }
    throw error;
  }
}

/**
 * Another batch may have the account during a vote of hours, so a cancellation ends the wait.
 * @returns false: another batch had the account meanwhile, so nothing is known about nonce and allowance
 */
async function takeAccount(run: Run, wait: VoteWait | 'once'): Promise<boolean> {
  const { approvalHold } = run;
  if (!approvalHold.isTaken()) {
    await approvalHold.acquire();
    return true;
  }
  if (wait === 'once') {
    return letVote();
  }
  await run.announce('awaiting-turn');
  while (!approvalHold.claim()) {
    await wait.check();
    await run.pause(run.deps.pollMs);
  }
  await run.announce('approving-allowance');
  return false;
}

/** Lets other batches of the funder ask for approvals, unless one of this batch may still be given or be mined. */
export function freeAccount(run: Run): void {
  if (!mayChangeAllowance(run)) {
    run.approvalHold.release();
  }
}

/** The transaction that was to be replaced is not pending any more. */
class NotNeededError extends Error {}

/** A vote can take longer than the mempool. */
function watchMempool(run: Run, wait: VoteWait | 'once'): VoteWait | 'once' {
  async function isWaiting(): Promise<boolean> {
    try {
      return (await readApproval(run)) === 'waiting';
    } catch (error) {
      rethrowInterruption(error);
      // An RPC that does not answer must not end a vote.
      return true;
    }
  }
  return wait === 'once'
    ? wait
    : {
        deadline: wait.deadline,
        async check() {
          await wait.check();
          if (!(await isWaiting())) {
            throw new NotNeededError();
          }
        },
      };
}

async function createReplacement(
  run: Run,
  rawTransaction: string,
  nonce: number,
  value: bigint,
): Promise<ApprovalTransaction> {
  const { chain, settings } = run.context;
  const earlier: ApprovalTransaction = {
    chainId: settings.chainId,
    nonce,
    token: run.token,
    spender: settings.pool,
    value,
    ...readFees(rawTransaction),
  };
  const isSame = (approval: RecordedApproval): boolean =>
    approval.nonce === nonce && approval.value === value.toString() && !approval.mined;
  const isOften = run.given().approvals.filter(isSame).length > maxReplacements;
  const raised = isOften ? undefined : raiseFees(earlier, await run.retry(() => chain.fetchFees()));
  if (raised === undefined) {
    throw new PoolError(
      'approval_failed',
      'the approval transaction was not mined in time; check the funder account and its gas',
    );
  }
  return raised;
}

/** Signs, stores, sends and waits until mined. */
async function give(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  wanted: ApprovalTransaction,
): Promise<ApprovalStep> {
  const transaction = await refresh(run, batch, wanted);
  if (run.funder.needsVote) {
    // A request that is voted on is asked for again as it is: another nonce or fee would be another request.
    await run.amend({ approvalRequest: serializeApproval(transaction) });
  }
  const given = await askSigner(run, createApprovalRequest(run, batch, transaction), wait);
  await run.passFaultPoint('approval.signed');
  await run.amend({
    approvals: [...run.given().approvals, recordApproval(given, transaction)],
    approvalRequest: undefined,
  });
  await run.passFaultPoint('approval.after-store');
  return toStep(await settleApproval(run), given.state === 'sent');
}

/** A provider never signs a content whose request has ended there. The same approval with another fee is another content. */
async function refresh(
  run: Run,
  batch: DatedBatch,
  transaction: ApprovalTransaction,
): Promise<ApprovalTransaction> {
  const hasEnded = (one: ApprovalTransaction): boolean =>
    findVote(run, createApprovalRequest(run, batch, one))?.hasEnded === true;
  if (run.given().approvalRequest !== undefined || !hasEnded(transaction)) {
    return transaction;
  }
  const fees = await run.retry(() => run.context.chain.fetchFees());
  let raised: ApprovalTransaction | undefined = transaction;
  while (raised !== undefined && hasEnded(raised)) {
    raised = raiseFees(raised, fees);
  }
  return raised ?? transaction;
}

/**
 * @param isSent - by the signer's provider. It simulates nothing, so the allowance may have changed since it was asked
 * @throws PoolError `approval_failed`
 */
export function toStep(
  state: Awaited<ReturnType<typeof settleApproval>>,
  isSent: boolean,
): ApprovalStep {
  if (state === 'reverted' && !isSent) {
    throw new PoolError('approval_failed', 'the token refused the approval transaction');
  }
  return state === 'mined' || state === 'stuck' ? state : 'look-again';
}

export function createApprovalRequest(
  run: Run,
  batch: DatedBatch,
  transaction: ApprovalTransaction,
): FunderRequest {
  const { chainId, pool } = run.context.settings;
  return {
    kind: 'token-approval',
    transaction,
    expected: { chainId, token: run.token, pool, total: run.total },
    file: createFundFile(batch),
  };
}

/** Before another approval is asked for, and before the batch goes on without one: one that is given late would change the allowance. */
export async function dropRequest(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
): Promise<'look-again'> {
  if (await takeBackRequest(run, batch)) {
    return 'look-again';
  }
  if (wait === 'once') {
    return letVote();
  }
  await wait.check();
  await run.pause(run.deps.pollMs);
  return 'look-again';
}

/** The caller does not wait. */
function letVote(): never {
  throw new VotePendingError();
}

/**
 * Takes back an approval that is voted on.
 * @param onOutage - as that of {@link withdrawRequest}
 * @returns false: it may still be given
 */
export async function takeBackRequest(
  run: Run,
  batch: DatedBatch,
  onOutage?: (error: unknown) => void,
): Promise<boolean> {
  const { approvalRequest, approvals } = run.given();
  if (approvalRequest === undefined) {
    return true;
  }
  const transaction = parseRequestedApproval(approvalRequest);
  const request = createApprovalRequest(run, batch, transaction);
  const vote = findVote(run, request);
  if (vote === undefined || vote.hasEnded === true) {
    await run.amend({ approvalRequest: undefined });
    return true;
  }
  const answer = await withdrawRequest(run, request, onOutage);
  if (answer === 'unknown' || (answer !== 'none' && answer.state === 'waiting')) {
    return false;
  }
  if (answer !== 'none' && answer.state === 'ended') {
    await markEnded(run, request);
  }
  await run.amend({
    approvalRequest: undefined,
    ...(answer !== 'none' && answer.state === 'sent'
      ? { approvals: [...approvals, recordApproval(answer, transaction)] }
      : {}),
  });
  return true;
}
