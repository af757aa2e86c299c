/**
 * Whether the funder's batch nonce is free for this batch. A settlement of a nonce that another batch has used could
 * only take the place of that batch's own.
 *
 * @module
 */
import type { FundBatchWire } from '@pool/api';
import { PoolError } from '@pool/core';
import type { PoolChain } from '../../chain/pool-chain.ts';
import { refuse } from './refuse-settlement.ts';

const timeoutMs = 5_000;

/**
 * @throws PoolError `invalid_settlement` (400), `chain_unreachable` (503, retryable) when the chain does not say it:
 *   nothing can be sent then, and the agent asks again
 */
export async function assertNonceFree(
  chain: Pick<PoolChain, 'fetchBatchRootOf'>,
  { funder, batchNonce, batchRoot }: FundBatchWire,
): Promise<void> {
  const usedFor = await withinTime(chain.fetchBatchRootOf(funder, batchNonce, 'latest'));
  if (usedFor !== undefined && usedFor !== batchRoot) {
    throw refuse('the chain has another batch of this funder under batch.batchNonce');
  }
}

async function withinTime<T>(asked: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), timeoutMs);
  try {
    return await Promise.race([asked, late.promise]);
  } catch (cause) {
    throw new PoolError('chain_unreachable', 'the chain does not answer; try again', {
      status: 503,
      retryable: true,
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}
