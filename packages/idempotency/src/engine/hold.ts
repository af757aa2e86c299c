/**
 * The claim of one run on a lock: it waits for the lock, or queues for it and goes on with other work.
 *
 * @module
 */

export type Hold = {
  /** Takes the lock if nobody has it. @returns whether it is held; if not, {@link Hold.acquire} waits */
  tryAcquire(): Promise<boolean>;
  /** True if the lock was ever found taken. */
  hasWaited(): boolean;
  /** Waits for the lock. Does nothing when it is held. */
  acquire(): Promise<void>;
  /** Queues for the lock without waiting. @returns whether it is held now */
  claim(): boolean;
  /** Releases the lock, and keeps a place in the queue. It may be taken again. */
  release(): void;
  /** Releases the lock, and leaves the queue. It may be taken again. */
  leave(): void;
  /** Releases the lock permanently, and leaves the queue. */
  end(): void;
};

/** @param lock.orStop - what comes before the run is interrupted */
export function createHold(lock: {
  acquire(): Promise<() => void>;
  orStop<T>(work: Promise<T>): Promise<T>;
  tryAcquire(): Promise<(() => void) | undefined>;
  isTaken(): boolean;
}): Hold {
  let free: (() => void) | undefined;
  let waiting: Promise<void> | undefined;
  let isWanted = false;
  let hasEnded = false;
  let hasWaited = false;

  async function wait(): Promise<void> {
    const coming = lock.acquire();
    free = await lock.orStop(coming).catch((error: unknown) => {
      // A lock that comes after all belongs to nobody, and others would wait for it for ever.
      coming.then(
        (release) => release(),
        () => undefined,
      );
      throw error;
    });
    if (hasEnded || !isWanted) {
      hold.release();
    }
  }

  function queue(): Promise<void> {
    isWanted = true;
    hasWaited ||= free === undefined && lock.isTaken();
    if (free !== undefined) {
      return Promise.resolve();
    }
    waiting ??= wait().finally(() => {
      waiting = undefined;
    });
    return waiting;
  }

  const hold: Hold = {
    async tryAcquire() {
      if (free === undefined && waiting === undefined) {
        free = await lock.tryAcquire();
        if (hasEnded) {
          hold.release();
        }
      }
      hasWaited ||= free === undefined;
      return free !== undefined;
    },
    hasWaited: () => hasWaited,
    acquire: queue,
    claim() {
      // An interruption also ends the run, which reports it.
      queue().catch(() => undefined);
      return free !== undefined;
    },
    release() {
      free?.();
      free = undefined;
    },
    leave() {
      isWanted = false;
      hold.release();
    },
    end() {
      hasEnded = true;
      hold.release();
    },
  };
  return hold;
}
