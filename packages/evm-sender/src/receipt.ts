/**
 * The outcome of a transaction. Mined is not final: a receipt counts once its block is final.
 *
 * @module
 */

import { type FinalityRule, type Hex32, PoolError, parseHex32 } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';

// Which block of a chain is final (protocol §8): the chain's `finalized` tag, or a depth below the head.

export type FinalBlock = {
  readonly number: number;
  readonly hash: Hex32;
  readonly timestampSeconds: number;
};

/** The newest final block. @throws PoolError `chain_unreachable` when the RPC has none */
export async function fetchFinalBlock(
  provider: JsonRpcProvider,
  rule: FinalityRule,
): Promise<FinalBlock> {
  const tag =
    rule.kind === 'finalized-tag'
      ? 'finalized'
      : Math.max(0, (await provider.getBlockNumber()) - rule.blocks);
  const block = await provider.getBlock(tag);
  if (block === null || block.hash === null) {
    throw new PoolError('chain_unreachable', 'the RPC has no final block; try again');
  }
  return {
    number: block.number,
    hash: parseHex32(block.hash),
    timestampSeconds: block.timestamp,
  };
}

/** Time of the newest block, Unix seconds. @throws PoolError `chain_unreachable` when the RPC has none */
export async function fetchHeadTimestamp(provider: JsonRpcProvider): Promise<number> {
  const head = await provider.getBlock('latest');
  if (head === null) {
    throw new PoolError('chain_unreachable', 'the RPC has no newest block; try again');
  }
  return head.timestamp;
}

/** A mined transaction. */
export type Receipt = {
  /** False: it reverted. */
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly gasUsed: bigint;
};

/** The outcome of the transactions that were signed for one nonce. The chain accepts at most one of them. */
export type NonceOutcome =
  /** None of them is mined, and each still can be. */
  | { readonly kind: 'pending' }
  /** One is in a block that is not final yet. */
  | { readonly kind: 'mined' }
  /** One is in a final block. Its receipt says whether it reverted. */
  | { readonly kind: 'final'; readonly txHash: string; readonly receipt: Receipt }
  /** A transaction that is not one of them used the nonce in a final block: none of them can be mined. */
  | { readonly kind: 'replaced' };

/** Undefined: the transaction is not mined. */
export async function fetchReceipt(
  provider: JsonRpcProvider,
  txHash: string,
): Promise<Receipt | undefined> {
  const receipt = await provider.getTransactionReceipt(txHash);
  return receipt === null
    ? undefined
    : {
        succeeded: receipt.status === 1,
        blockNumber: receipt.blockNumber,
        gasUsed: receipt.gasUsed,
      };
}

export function isFinal({ blockNumber }: Receipt, finalBlock: Pick<FinalBlock, 'number'>): boolean {
  return blockNumber <= finalBlock.number;
}

export type NonceReads = {
  /** Number of the account's transactions up to and with a block. */
  fetchNonceAt(blockNumber: number): Promise<number>;
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
};

/** @param txHashes - every transaction that was signed for the nonce */
export async function fetchNonceOutcome(
  chain: NonceReads,
  { nonce, txHashes }: { readonly nonce: number; readonly txHashes: readonly string[] },
  finalBlock: FinalBlock,
): Promise<NonceOutcome> {
  // The count at the final block comes before the receipts: a receipt that is missing afterwards will never exist.
  const finalNonce = await chain.fetchNonceAt(finalBlock.number);
  for (const txHash of txHashes) {
    const receipt = await chain.fetchReceipt(txHash);
    if (receipt !== undefined) {
      return isFinal(receipt, finalBlock) ? { kind: 'final', txHash, receipt } : { kind: 'mined' };
    }
  }
  return { kind: finalNonce > nonce ? 'replaced' : 'pending' };
}
