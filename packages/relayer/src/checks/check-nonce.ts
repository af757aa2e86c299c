/**
 * Checks that the funder's batch nonce is free for this batch. A settlement with a nonce that another batch used could
 * only block that batch's own settlement.
 *
 * @module
 */
import type { FundBatchWire } from '@pool/api';
import { askChain } from '@pool/evm-sender';
import type { PoolChain } from '../chain/pool-chain.ts';
import { refuse } from './refuse-settlement.ts';

const timeoutMs = 5_000;

/**
 * @throws PoolError `invalid_settlement` (400), `chain_unreachable` (503, retryable) when the chain does not answer:
 *   nothing can be sent then, and the agent tries again
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
