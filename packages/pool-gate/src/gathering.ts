/**
 * Gathers wallets that arrive together into one root, so that they share one wait for finality.
 *
 * @module
 */

/** A steady stream of wallets delays a root by no more than this. */
const longestMs = 2_000;

export type Gathering = ReturnType<typeof createGathering>;

/**
 * @param pause - waits for one quiet moment
 * @param nowMs - a clock that never goes back
 */
export function createGathering(pause: () => Promise<void>, nowMs: () => number) {
  let isOpen = false;
  let arrivals = 0;
  return {
    /** A wallet arrived. @returns true: the root that is now being gathered will contain it */
    join(): boolean {
      arrivals += 1;
      return isOpen;
    },
    /** Resolves when no wallet arrived during one pause, or at the latest after the longest time. */
    async untilQuiet(): Promise<void> {
      const startedMs = nowMs();
      isOpen = true;
      let before: number;
      do {
        before = arrivals;
        await pause();
      } while (arrivals !== before && nowMs() - startedMs < longestMs);
      isOpen = false;
    },
  };
}
