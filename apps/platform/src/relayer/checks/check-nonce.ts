/**
 * Whether the funder's batch nonce is free for this batch. A settlement of a nonce that another batch has used could
 * only take the place of that batch's own.
 *
 * @module
 */
import type { FundBatchWire } from '@pool/api';
import { askChain } from '@pool/contracts';
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
  const usedFor = await askChain(
    () => chain.fetchBatchRootOf(funder, batchNonce, 'latest'),
    timeoutMs,
  );
  if (usedFor !== undefined && usedFor !== batchRoot) {
    throw refuse('the chain has another batch of this funder under batch.batchNonce');
  }
}
