/**
 * The (chain, token, funder) lock of one run. Who holds it decides about the funder's money: what its balance still
 * covers, what the pool may take. It is held from that decision until the batch has ended, or until the relayer has
 * nothing of it out.
 *
 * @module
 */
export type AllowanceHold = {
  isHeld(): boolean;
  /** True when somebody else holds it, so that {@link acquire} would wait. */
  isTaken(): boolean;
  /** Waits for the lock. Does nothing when it is held. */
  acquire(): Promise<void>;
  release(): void;
};

/** @param locks - those of the process; `acquire` ends with the run */
export function createAllowanceHold(
  name: string,
  locks: { acquire(name: string): Promise<() => void>; isTaken(name: string): boolean },
): AllowanceHold {
  let release: (() => void) | undefined;
  return {
    isHeld: () => release !== undefined,
    isTaken: () => release === undefined && locks.isTaken(name),
    async acquire() {
      release ??= await locks.acquire(name);
    },
    release() {
      release?.();
      release = undefined;
    },
  };
}
