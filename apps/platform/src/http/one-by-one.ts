/**
 * Requests of a route that many callers may repeat without a pause: they wait for each other, and at most one is answered in a turn
 * of the event loop. So a caller with many connections delays the requests of other routes by one answer, not by one for each
 * connection. Those that wait cost nothing; their number is the number of connections.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';

export type OneByOne = <T>(work: () => Promise<T>) => Promise<T>;

export function createOneByOne(): OneByOne {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(() => setImmediate()).then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
