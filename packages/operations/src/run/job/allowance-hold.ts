/**
 * The lock of one run on its chain, token and funder. Only its holder decides what the balance of the funder still covers
 * and what the pool may take. A batch holds it from that decision until it has ended, or until the relayer says that nothing
 * of it is out. Before the batch is sent again, it takes the lock again (docs/decisions/0007).
 *
 * @module
 */

export type AllowanceHold = {
  /** True if another run holds it, so that {@link AllowanceHold.acquire} would wait. */
  isTaken(): boolean;
  /** True if {@link AllowanceHold.acquire} or {@link AllowanceHold.claim} ever found the lock taken. */
  hasWaited(): boolean;
  /** Waits for the lock. Does nothing when it is held. */
  acquire(): Promise<void>;
  /** Queues for the lock without waiting. @returns whether it is held now */
  claim(): boolean;
  /** Releases the lock. It may be taken again. */
  release(): void;
  /** Releases the lock permanently, and leaves the queue. */
  end(): void;
};

/** @param locks - those of the process; `acquire` rejects when the run is interrupted */
export function createAllowanceHold(
  name: string,
  locks: { acquire(name: string): Promise<() => void>; isTaken(name: string): boolean },
): AllowanceHold {
  let free: (() => void) | undefined;
  let waiting: Promise<void> | undefined;
  let hasEnded = false;
  let hasWaited = false;

  async function wait(): Promise<void> {
    const release = await locks.acquire(name);
    if (hasEnded) {
      release();
    } else {
      free = release;
    }
  }

  function queue(): Promise<void> {
    waiting ??= wait().finally(() => {
      waiting = undefined;
    });
    return waiting;
  }

  function release(): void {
    free?.();
    free = undefined;
  }

  function isTaken(): boolean {
    return free === undefined && locks.isTaken(name);
  }

  return {
    isTaken,
    hasWaited: () => hasWaited,
    async acquire() {
      hasWaited ||= isTaken();
      if (free === undefined) {
        await queue();
      }
    },
    claim() {
      hasWaited ||= isTaken();
      if (free === undefined) {
        // An interruption also ends the run, which reports it.
        queue().catch(() => undefined);
      }
      return free !== undefined;
    },
    release,
    end() {
      hasEnded = true;
      release();
    },
  };
}
