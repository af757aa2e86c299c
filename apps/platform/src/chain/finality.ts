/**
 * The one finality rule of a chain (protocol §8): its `finalized` tag, or a depth below the head.
 *
 * @module
 */
import { type FinalityRule, type Hex32, PoolError, parseHex32 } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';

export type FinalBlock = {
  readonly number: number;
  readonly hash: Hex32;
  /** Unix seconds. */
  readonly timestamp: number;
};

/** The newest final block. @throws PoolError `chain_unreachable` when the chain names none */
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
    throw new PoolError('chain_unreachable', 'the chain names no final block', {
      retryable: true,
      status: 503,
    });
  }
  return { number: block.number, hash: parseHex32(block.hash), timestamp: block.timestamp };
}
