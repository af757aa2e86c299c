/**
 * What becomes of the newest approval transaction that a job has stored: it is sent until it is mined, reverts, or loses its account
 * nonce to another transaction.
 *
 * @module
 */
import { parseHex32 } from '@pool/core';
import { maxApprovalFeeWei } from '@pool/signers';
import { keccak256, Transaction } from 'ethers';
import type { ApprovalTransaction, ChainFees } from '../../ports.ts';
import type { Grant, RecordedApproval, RequestedApproval } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import type { Given } from './ask-signer.ts';

export type ApprovalState =
  /** Nothing is pending. */
  | 'none'
  | 'mined'
  | 'reverted'
  /** Another transaction has its nonce, so it can never be mined. It is forgotten. */
  | 'replaced'
  | 'waiting';

/** True while an approval of the job may still be given, or be mined: then no other batch may count on the allowance. */
export function mayChangeAllowance(run: Run): boolean {
  const { approvalRequest, approvals }: Grant = run.given();
  return approvalRequest !== undefined || approvals.at(-1)?.mined === false;
}

/** Reads once what has become of the newest approval, and stores it. */
export async function readApproval(run: Run): Promise<ApprovalState> {
  const { chain } = run.context;
  const approval = run.given().approvals.at(-1);
  if (approval === undefined || approval.mined) {
    return 'none';
  }
  const receipt = await run.retry(() => chain.fetchReceipt(approval.txHash));
  if (receipt !== undefined) {
    await markMined(run);
    await run.passFaultPoint('approval.mined');
    return receipt.reverted ? 'reverted' : 'mined';
  }
  if (await isInForce(run, approval)) {
    await markMined(run);
    return 'mined';
  }
  if (await isReplaced(run, approval)) {
    await run.amend({ approvals: run.given().approvals.slice(0, -1) });
    return 'replaced';
  }
  return 'waiting';
}

/**
 * Sends the newest approval until it is mined.
 * @returns `stuck`: its fees are too low by now, or it was not mined in time
 */
export async function settleApproval(
  run: Run,
): Promise<Exclude<ApprovalState, 'waiting'> | 'stuck'> {
  const { chain } = run.context;
  const giveUpAtMs = run.deps.clock.nowMs() + run.deps.patienceMs;
  let hasLost = false;
  for (;;) {
    const state = await readApproval(run);
    if (state === 'replaced') {
      // Perhaps by an earlier form of itself, with lower fees.
      hasLost = true;
      continue;
    }
    if (state !== 'waiting') {
      return hasLost && state === 'none' ? 'replaced' : state;
    }
    if (run.deps.clock.nowMs() >= giveUpAtMs) {
      return 'stuck';
    }
    const rawTransaction = run.given().approvals.at(-1)?.rawTransaction;
    if (rawTransaction !== undefined) {
      const fees = await run.retry(() => chain.fetchFees());
      if (isOutbid(readFees(rawTransaction), fees)) {
        return 'stuck';
      }
      await run.retry(() => chain.broadcast(rawTransaction));
      await run.passFaultPoint('approval.sent');
    }
    await run.pause(run.deps.pollMs);
  }
}

/** How an approval is stored once the signer has given it. */
export function recordApproval(
  given: Given,
  { value, nonce }: ApprovalTransaction,
): RecordedApproval {
  const common = { value: value.toString(), mined: false };
  return given.state === 'sent'
    ? { ...common, txHash: given.txHash }
    : {
        ...common,
        rawTransaction: given.signed,
        txHash: parseHex32(keccak256(given.signed)),
        nonce,
      };
}

/** What a replacement has to outbid. */
export function readFees(
  rawTransaction: string,
): Pick<ApprovalTransaction, 'gasLimit' | 'maxFeePerGas' | 'maxPriorityFeePerGas'> {
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(rawTransaction);
  return {
    gasLimit,
    maxFeePerGas: maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
  };
}

/**
 * True for a transaction that the signer's provider sent, once the allowance is its value: the provider may have sent it again with
 * higher fees, and so with another hash. It was asked for because the allowance was another one.
 */
async function isInForce(run: Run, { rawTransaction, value }: RecordedApproval): Promise<boolean> {
  if (rawTransaction !== undefined) {
    return false;
  }
  const { chain } = run.context;
  const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
  return allowance === BigInt(value);
}

/** Never for a transaction that the signer's provider sent: its nonce is not known, and the provider may raise its fees. */
async function isReplaced(run: Run, { nonce, txHash }: RecordedApproval): Promise<boolean> {
  const { chain } = run.context;
  return (
    nonce !== undefined &&
    (await run.retry(() => chain.fetchMinedNonce(run.funder.address))) > nonce &&
    (await run.retry(() => chain.fetchReceipt(txHash))) === undefined
  );
}

async function markMined(run: Run): Promise<void> {
  const approvals = run.given().approvals;
  const last = approvals.at(-1);
  if (last !== undefined) {
    await run.amend({ approvals: [...approvals.slice(0, -1), { ...last, mined: true }] });
  }
}

/** How an approval that is voted on is stored. */
export function serializeApproval(transaction: ApprovalTransaction): RequestedApproval {
  const { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, ...rest } = transaction;
  return {
    ...rest,
    value: value.toString(),
    gasLimit: gasLimit.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
  };
}

export function parseRequestedApproval(stored: RequestedApproval): ApprovalTransaction {
  const { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, ...rest } = stored;
  return {
    ...rest,
    value: BigInt(value),
    gasLimit: BigInt(gasLimit),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  };
}

/**
 * The same approval with fees that a node accepts as a replacement, and that the chain asks for now.
 * @returns undefined: it would cost more than an approval may cost
 */
export function raiseFees(
  transaction: ApprovalTransaction,
  now: ChainFees,
): ApprovalTransaction | undefined {
  const least = raise(transaction.maxFeePerGas);
  const most = maxApprovalFeeWei / transaction.gasLimit;
  if (least > most) {
    return undefined;
  }
  const maxFeePerGas = lesser(greater(least, now.maxFeePerGas), most);
  const tip = greater(raise(transaction.maxPriorityFeePerGas), now.maxPriorityFeePerGas);
  return { ...transaction, maxFeePerGas, maxPriorityFeePerGas: lesser(tip, maxFeePerGas) };
}

/** True if no block takes the transaction as long as the base fee is what it is. */
export function isOutbid(
  { maxFeePerGas }: Pick<ApprovalTransaction, 'maxFeePerGas'>,
  { baseFeePerGas }: ChainFees,
): boolean {
  return maxFeePerGas < baseFeePerGas;
}

/** More than an eighth more. Nodes ask for a tenth or an eighth. */
function raise(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function lesser(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
