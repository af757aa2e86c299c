/**
 * One `approve` transaction of the funder: asked for, stored, sent until it is mined, and replaced with higher fees where it is not.
 *
 * The lock is held from the question to the end, and with it the lock of the funder's account. Of several approvals with one account
 * nonce only one can be mined, of whatever token, so asking for two at once gains nothing; and a custodian that sends approvals itself does
 * so whenever its vote ends (docs/decisions/0015).
 *
 * An approval is stored signed before it is sent, so a crash sends the same transaction again instead of a second one.
 *
 * @module
 */
import { PoolError, parseHex32 } from '@pool/core';
import { raiseFeesWithin, readFees } from '@pool/evm-sender';
import { rethrowInterruption } from '@pool/idempotency/engine';
import { maxApprovalFeeWei } from '@pool/signers';
import { keccak256 } from 'ethers';
import type { ApprovalTransaction, ChainFees, FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/batch.ts';
import type { RecordedApproval, RequestedApproval } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import {
  type Asking,
  ask,
  assertMayWait,
  createFundFile,
  findVote,
  type Given,
  withdrawRequest,
} from './ask-signer.ts';

/** `look-again`: nothing is known about the allowance. `stuck`: the newest transaction is not mined. */
type ApprovalStep = 'mined' | 'look-again' | 'stuck';

/** How often an approval may be sent again with higher fees. */
const maxReplacements = 3;

/** How many approvals of a job the token may refuse. The allowance changes under one when the chain drops a block of the batch before. */
const maxReverts = 3;

/**
 * Asks for `approve(pool, value)`, stores it, sends it, and waits until it is mined. Called under the lock.
 * @param stuck - the newest approval, which it replaces: the same account nonce, and higher fees
 * @throws PoolError `approval_failed`
 */
export async function approve(
  asking: Asking,
  value: bigint,
  stuck?: RecordedApproval,
): Promise<ApprovalStep> {
  const { run, batch } = asking;
  if (stuck !== undefined && (stuck.rawTransaction === undefined || stuck.nonce === undefined)) {
    // The signer's provider sent it, and raises its fees.
    assertMayWait(asking);
    return 'look-again';
  }
  if (!(await takeAccount(asking))) {
    return 'look-again';
  }
  const known = run.given.approvalRequest;
  if (known === undefined) {
    const transaction = await createTransaction(run, batch, value, stuck);
    if (run.funder.needsVote) {
      // A request that is voted on is asked for again as it is: another nonce or fee would be another request.
      await run.amend({ approvalRequest: convertAmounts(transaction, String) });
    }
    return give(asking, transaction, stuck);
  }
  const isSame = stuck === undefined || stuck.nonce === known.nonce;
  return isSame && known.value === value.toString()
    ? give(asking, parseRequestedApproval(known), stuck)
    : dropRequest(asking);
}

/**
 * Another batch may have the account during a vote of hours, so a cancellation ends the wait.
 * @returns false: another batch had the account meanwhile, so nothing is known about nonce and allowance
 */
async function takeAccount(asking: Asking): Promise<boolean> {
  const { run, check } = asking;
  const { approvalHold } = run;
  if (await approvalHold.tryAcquire()) {
    return true;
  }
  assertMayWait(asking);
  await run.announce('awaiting-turn');
  while (!approvalHold.claim()) {
    await check();
    await run.pause();
  }
  await run.announce('approving-allowance');
  return false;
}

/** Lets other batches of the funder ask for approvals, unless one of this batch may still be given or be mined. */
export function freeAccount(run: Run): void {
  if (!run.mayChangeAllowance) {
    run.approvalHold.release();
  }
}

/** The approval as it is asked for: a new one, or one that replaces a stuck one. */
async function createTransaction(
  run: Run,
  batch: DatedBatch,
  value: bigint,
  stuck: RecordedApproval | undefined,
): Promise<ApprovalTransaction> {
  let transaction =
    stuck === undefined
      ? await run.chain.prepareApproval(run.token, run.funder.address, value)
      : await createReplacement(run, stuck, value);
  const hasEnded = (one: ApprovalTransaction): boolean =>
    findVote(run, createApprovalRequest(run, batch, one))?.hasEnded === true;
  if (hasEnded(transaction)) {
    // A provider never signs a content whose request has ended there. The same approval with another fee is another content.
    const fees = await run.chain.fetchFees();
    let raised: ApprovalTransaction | undefined = transaction;
    while (raised !== undefined && hasEnded(raised)) {
      raised = raiseFees(raised, fees);
    }
    transaction = raised ?? transaction;
  }
  return transaction;
}

async function createReplacement(
  run: Run,
  { rawTransaction = '0x', nonce = 0 }: RecordedApproval,
  value: bigint,
): Promise<ApprovalTransaction> {
  const { chainId, pool: spender } = run.context.settings;
  const fees = readFees(rawTransaction);
  const earlier = { chainId, nonce, token: run.token, spender, value, ...fees };
  const same = run.given.approvals.filter(
    (approval) =>
      approval.nonce === nonce && approval.value === value.toString() && !approval.mined,
  );
  const raised =
    same.length > maxReplacements ? undefined : raiseFees(earlier, await run.chain.fetchFees());
  if (raised === undefined) {
    throw new PoolError(
      'approval_failed',
      'the approval transaction was not mined in time; check the funder account and its gas',
    );
  }
  return raised;
}

/** The transaction that was to be replaced is not pending any more. */
class NotNeededError extends Error {}

/** A vote on a replacement can take longer than the mempool. */
function watchMempool(asking: Asking): Asking {
  return {
    ...asking,
    async check() {
      await asking.check();
      // An RPC that does not answer must not end a vote.
      const state = await readApproval(asking.run).catch(rethrowInterruption);
      if (state !== undefined && state !== 'waiting') {
        throw new NotNeededError();
      }
    },
  };
}

/** Signs, stores, sends and waits until mined. */
async function give(
  asking: Asking,
  transaction: ApprovalTransaction,
  stuck: RecordedApproval | undefined,
): Promise<ApprovalStep> {
  const { run, batch } = asking;
  const request = createApprovalRequest(run, batch, transaction);
  try {
    const given = await ask(stuck === undefined ? asking : watchMempool(asking), request);
    const approvals = [...run.given.approvals, recordApproval(given, transaction)];
    await run.amend(
      { approvals, approvalRequest: undefined },
      { before: 'approval.signed', after: 'approval.after-store' },
    );
  } catch (error) {
    if (error instanceof NotNeededError) {
      return 'look-again';
    }
    throw error;
  }
  return settleApproval(run);
}

/**
 * Reads once what has become of the newest approval, and stores it.
 * @returns `none`: nothing is pending. `replaced`: another transaction has its nonce, so it can never be mined, and is forgotten
 */
export async function readApproval(
  run: Run,
): Promise<'none' | 'mined' | 'reverted' | 'replaced' | 'waiting'> {
  const { chain, funder, token } = run;
  const earlier = run.given.approvals.slice(0, -1);
  const approval = run.given.approvals.at(-1);
  if (approval === undefined || approval.mined) {
    return 'none';
  }
  const receipt = await chain.fetchReceipt(approval.txHash);
  // A provider may have sent its own again with higher fees, and so with another hash. The allowance shows that it is in force: it was
  // asked for because the allowance was another one.
  const isMined =
    receipt !== undefined ||
    (approval.rawTransaction === undefined &&
      (await chain.fetchAllowance(token, funder.address)) === BigInt(approval.value));
  if (isMined) {
    const isReverted = receipt?.reverted === true;
    const mined = { ...approval, mined: true, ...(isReverted ? { reverted: true as const } : {}) };
    await run.amend(
      { approvals: [...earlier, mined] },
      receipt === undefined ? {} : { after: 'approval.mined' },
    );
    return isReverted ? 'reverted' : 'mined';
  }
  // Never for a transaction that the signer's provider sent: its nonce is not known.
  const isReplaced =
    approval.nonce !== undefined &&
    (await chain.fetchMinedNonce(funder.address)) > approval.nonce &&
    (await chain.fetchReceipt(approval.txHash)) === undefined;
  if (isReplaced) {
    await run.amend({ approvals: earlier });
  }
  return isReplaced ? 'replaced' : 'waiting';
}

/**
 * Sends the newest approval until it is mined. One that loses its nonce may have lost it to an earlier form of itself, with lower fees.
 * @param mayRevert - one more reverted approval is no failure: the caller looks at the allowance
 * @returns `look-again`: it reverted, because the allowance has changed since it was asked for. `stuck`: its fees are too low by now, or it
 *   was not mined in time
 * @throws PoolError `approval_failed`
 */
export async function settleApproval(run: Run, mayRevert = false): Promise<ApprovalStep> {
  const giveUpAtMs = run.deps.clock.steadyMs() + run.deps.patienceMs;
  for (;;) {
    const rawTransaction = run.given.approvals.at(-1)?.rawTransaction;
    const state = await readApproval(run);
    const reverts = run.given.approvals.filter(({ reverted }) => reverted).length;
    if (state === 'reverted' && !mayRevert && reverts >= maxReverts) {
      throw new PoolError(
        'approval_failed',
        `the token refused ${reverts} approval transactions of the funder; look them up on the chain`,
      );
    }
    if (state === 'replaced') {
      continue;
    }
    if (state !== 'waiting') {
      return state === 'mined' ? state : 'look-again';
    }
    if (run.deps.clock.steadyMs() >= giveUpAtMs) {
      return 'stuck';
    }
    if (rawTransaction !== undefined) {
      if (isOutbid(readFees(rawTransaction), await run.chain.fetchFees())) {
        return 'stuck';
      }
      await run.chain.broadcast(rawTransaction);
      await run.passFaultPoint('approval.sent');
    }
    await run.pause();
  }
}

/** How an approval is stored once the signer has given it. */
function recordApproval(given: Given, { value, nonce }: ApprovalTransaction): RecordedApproval {
  const common = { value: value.toString(), mined: false };
  if (given.state === 'sent') {
    return { ...common, txHash: given.txHash };
  }
  const txHash = parseHex32(keccak256(given.signed));
  return { ...common, rawTransaction: given.signed, txHash, nonce };
}

export function createApprovalRequest(
  { context: { settings }, token, total }: Run,
  batch: DatedBatch,
  transaction: ApprovalTransaction,
): FunderRequest {
  const { chainId, pool } = settings;
  return {
    kind: 'token-approval',
    transaction,
    expected: { chainId, token, pool, total },
    file: createFundFile(batch),
  };
}

/** Before another approval is asked for, and before the batch goes on without one: one that is given late would change the allowance. */
export async function dropRequest(asking: Asking): Promise<'look-again'> {
  const { run, batch, check } = asking;
  if (!(await takeBackRequest(run, batch))) {
    assertMayWait(asking);
    await check();
    await run.pause();
  }
  return 'look-again';
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
  const { approvalRequest } = run.given;
  if (approvalRequest === undefined) {
    return true;
  }
  const transaction = parseRequestedApproval(approvalRequest);
  const request = createApprovalRequest(run, batch, transaction);
  const vote = findVote(run, request);
  const isWaiting = vote !== undefined && vote.hasEnded !== true;
  const answer = isWaiting ? await withdrawRequest(run, request, onOutage) : 'none';
  if (answer === 'open') {
    return false;
  }
  const isSent = typeof answer === 'object' && answer.state === 'sent';
  await run.amend({
    approvalRequest: undefined,
    ...(isSent ? { approvals: [...run.given.approvals, recordApproval(answer, transaction)] } : {}),
  });
  return true;
}

export function parseRequestedApproval(stored: RequestedApproval): ApprovalTransaction {
  return convertAmounts(stored, BigInt);
}

/** An approval that is voted on is stored with decimal amounts. */
function convertAmounts<From extends ApprovalTransaction | RequestedApproval, To>(
  { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, ...rest }: From,
  convert: (amount: From['value']) => To,
) {
  return {
    ...rest,
    value: convert(value),
    gasLimit: convert(gasLimit),
    maxFeePerGas: convert(maxFeePerGas),
    maxPriorityFeePerGas: convert(maxPriorityFeePerGas),
  };
}

/**
 * The same approval with fees that a node accepts as a replacement, and that the chain asks for now.
 * @returns undefined: it would cost more than an approval may cost
 */
export function raiseFees(
  transaction: ApprovalTransaction,
  { maxFeePerGas, maxPriorityFeePerGas: tip }: ChainFees,
): ApprovalTransaction | undefined {
  const now = { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
  const raised = raiseFeesWithin(transaction, now, maxApprovalFeeWei / transaction.gasLimit);
  return raised === undefined ? undefined : { ...transaction, ...raised };
}

/** True if no block takes the transaction as long as the base fee is what it is. */
export function isOutbid(
  { maxFeePerGas }: Pick<ApprovalTransaction, 'maxFeePerGas'>,
  { baseFeePerGas }: ChainFees,
): boolean {
  return maxFeePerGas < baseFeePerGas;
}
