/**
 * A bound on how long a caller waits for a chain or a service. The work itself is not ended. Its author must bound it too.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { waitAtMost } from '@pool/evm-sender';

/** @throws PoolError `timed_out` (503, retryable) if the work has not ended after this number of milliseconds */
export async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  return await waitAtMost(
    work,
    milliseconds,
    () => new PoolError('timed_out', `no answer within ${milliseconds} ms`),
  );
}
