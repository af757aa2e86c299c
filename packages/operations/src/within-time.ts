/**
 * A bound on how long somebody waits for a look at the outside world. The look itself is not ended; whoever
 * starts it bounds it too.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** @throws PoolError `timed_out` (503, retryable) when the work has not ended after so many milliseconds */
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
