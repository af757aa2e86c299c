/**
 * Which block of a chain is final (protocol §8): the chain's `finalized` tag, or a depth below the head.
 *
 * @module
 */
import { type FinalityRule, type Hex32, PoolError, parseHex32 } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';

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
