/**
 * Mutual exclusion by name, here within this process, first come, first served. Held from the allowance decision until
 * a block has the batch of one (chain, token, funder), so that two batches do not count on the same allowance.
 *
 * @module
 */

export type KeyLock = {
  /**
   * @param onOutage - told once, if what gives the lock does not answer. The wait goes on
   * @returns how to release; calling it twice is harmless
   */
  acquire(
    name: string,
    signal: AbortSignal,
    onOutage?: (error: unknown) => void,
  ): Promise<() => void>;
  /** @returns how to release; undefined if `acquire` would wait */
  tryAcquire(name: string): Promise<(() => void) | undefined>;
  /** True if a run of this process holds it or waits for it. */
  isTaken(name: string): boolean;
};

export function createKeyLock(): KeyLock {
  const tails = new Map<string, Promise<void>>();
  const lock: KeyLock = {
    isTaken: (name) => tails.has(name),
    tryAcquire: async (name) =>
      tails.has(name) ? undefined : await lock.acquire(name, new AbortController().signal),
    async acquire(name, signal) {
      const before = tails.get(name) ?? Promise.resolve();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const tail = before.then(() => held);
      tails.set(name, tail);
      void tail.then(() => {
        if (tails.get(name) === tail) {
          tails.delete(name);
        }
      });
      try {
        await waitFor(before, signal);
      } catch (error) {
        release();
        throw error;
      }
      return release;
    },
  };
  return lock;
}

async function waitFor(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
