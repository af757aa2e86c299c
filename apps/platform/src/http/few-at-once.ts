/**
 * Requests of a route that many callers may repeat without a pause. A few of them read at once, the others wait, and at most one begins or
 * is answered in a turn of the event loop. So a caller with many connections delays the requests of other routes by one answer, not by
 * one for each connection, and takes few connections to the database; and a query that is slow does not hold everybody else. Those that
 * wait cost nothing; their number is the number of connections.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';

/** @param read - asks the database, and resolves to what makes the answer */
export type FewAtOnce = <T>(read: () => Promise<() => T>) => Promise<T>;

/** PostgreSQL is read through 10 connections by default, which sign-ins and settlements need too. */
const defaultPlaces = 4;

export function createFewAtOnce(places = defaultPlaces): FewAtOnce {
  let free = places;
  const waiting: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();

  async function takePlace(): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  }

  function leavePlace(): void {
    const next = waiting.shift();
    if (next === undefined) {
      free += 1;
    } else {
      next();
    }
  }

  async function waitForTurn(): Promise<void> {
    const turn = last.then(() => setImmediate());
    last = turn;
    await turn;
  }

  return async (read) => {
    await takePlace();
    try {
      await waitForTurn();
      const answer = await read().catch((error: unknown) => () => {
        throw error;
      });
      await waitForTurn();
      return answer();
    } finally {
      leavePlace();
    }
  };
}
