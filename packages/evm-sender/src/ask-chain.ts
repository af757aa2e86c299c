/**
 * Limits of a request to a chain: how long the caller waits, and which error the caller gets.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';

/**
 * Waits for `work` at most this long. The work itself continues: its own RPC calls have their own limit.
 * @throws what `explain` makes when it has not ended in time
 */
export async function waitAtMost<T>(
  work: Promise<T>,
  milliseconds: number,
  explain = () => new Error('no answer in time'),
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(explain()), milliseconds);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks a chain, and reports every failure of its RPC with one code.
 * @param timeoutMs - of the whole request; absent: each RPC call has its own limit
 * @throws PoolError `chain_unreachable` (503, retryable); the error of `work` if it is a PoolError
 */
export async function askChain<T>(work: () => Promise<T>, timeoutMs?: number): Promise<T> {
  try {
    return await (timeoutMs === undefined ? work() : waitAtMost(work(), timeoutMs));
  } catch (cause) {
    throw isPoolError(cause)
      ? cause
      : new PoolError('chain_unreachable', 'the chain does not answer; try again', { cause });
  }
}
