/**
 * A bound on how long a caller waits for a chain or a service. The work itself is not ended. Its author must bound it too.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** @throws PoolError `timed_out` (503, retryable) if the work has not ended after this number of milliseconds */
export async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new PoolError('timed_out', `no answer within ${milliseconds} ms`));
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
