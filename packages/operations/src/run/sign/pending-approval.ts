/**
 * What becomes of the newest approval transaction that a job has stored: it is sent until it is mined, reverts, or loses its account
 * nonce to another transaction.
 *
 * @module
 */
import { parseHex32 } from '@pool/core';
import { keccak256, Transaction } from 'ethers';
import type { ApprovalTransaction } from '../../ports.ts';
import type { DisbursementRecord, RecordedApproval } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { isOutbid } from './approval-fees.ts';
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
export function mayChangeAllowance({ approvalRequest, approvals }: DisbursementRecord): boolean {
  return approvalRequest !== undefined || approvals.at(-1)?.mined === false;
}

/** Reads once what has become of the newest approval, and stores it. */
export async function readApproval(run: Run): Promise<ApprovalState> {
  const { chain } = run.context;
  const approval = run.record().approvals.at(-1);
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
    await run.update({ approvals: run.record().approvals.slice(0, -1) });
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
    const rawTransaction = run.record().approvals.at(-1)?.rawTransaction;
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
  const approvals = run.record().approvals;
  const last = approvals.at(-1);
  if (last !== undefined) {
    await run.update({ approvals: [...approvals.slice(0, -1), { ...last, mined: true }] });
  }
}
