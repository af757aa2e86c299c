/**
 * Chooses the rows of a pass of the relayer, and their order. Owners take turns, a pass includes a few rows of
 * each, and a row that cannot be tried waits longer each time. So the length of a pass depends neither on how many rows
 * one owner has, nor on what its contract does to the node. In memory: after a restart everything is tried again.
 *
 * @module
 */

/** `owner`: the employer of a settlement, or the holder of a spend. */
export type QueuedRow = { readonly id: number; readonly owner: string };

/** `failed`: the funder's own code could not be run. `refused`: the chain refuses for now. */
export type RowOutcome = 'done' | 'refused' | 'failed';

export type FairQueue = ReturnType<typeof createFairQueue>;

/** Rows of one owner per pass. */
export const rowsPerPass = 16;

const firstWaitMs = 1_000;
const longestRowWaitMs = 300_000;
/** Short, since a node that is down fails for every owner. */
const longestOwnerWaitMs = 30_000;

type Wait = { failures: number; dueAtMs: number; triedAs: number };

export function createFairQueue(nowMs: () => number) {
  const rowWaits = new Map<number, Wait>();
  const ownerWaits = new Map<string, Wait>();
  let tries = 0;

  function isDue(wait: Wait | undefined): boolean {
    // A clock that was set back must not stop any owner.
    return (
      wait === undefined || nowMs() >= wait.dueAtMs || wait.dueAtMs - nowMs() > longestRowWaitMs
    );
  }

  function wait(before: Wait | undefined, fails: boolean, longestMs: number): Wait {
    const failures = fails ? (before?.failures ?? 0) + 1 : 0;
    const waitMs = fails ? Math.min(firstWaitMs * 2 ** Math.min(failures - 1, 20), longestMs) : 0;
    return { failures, dueAtMs: nowMs() + waitMs, triedAs: tries };
  }

  return {
    /** Rows to try now; the rows of one owner are spread out. */
    choose<T extends QueuedRow>(rows: readonly T[]): T[] {
      forgetAllBut(rowWaits, new Set(rows.map(({ id }) => id)));
      forgetAllBut(ownerWaits, new Set(rows.map(({ owner }) => owner)));
      const byOwner = new Map<string, T[]>();
      for (const row of rows) {
        if (isDue(ownerWaits.get(row.owner)) && isDue(rowWaits.get(row.id))) {
          const own = byOwner.get(row.owner) ?? [];
          own.push(row);
          byOwner.set(row.owner, own);
        }
      }
      const triedAs = ({ id }: QueuedRow): number => rowWaits.get(id)?.triedAs ?? 0;
      const turns = [...byOwner.values()].map((own) =>
        own.sort((a, b) => triedAs(a) - triedAs(b) || a.id - b.id).slice(0, rowsPerPass),
      );
      return Array.from({ length: rowsPerPass }, (_, turn) =>
        turns.flatMap((own) => own.slice(turn, turn + 1)),
      ).flat();
    },
    /** True after a failed call of this owner: its other rows wait for the next pass. */
    isPaused: (owner: string): boolean => !isDue(ownerWaits.get(owner)),
    note({ id, owner }: QueuedRow, outcome: RowOutcome): void {
      tries += 1;
      rowWaits.set(id, wait(rowWaits.get(id), outcome !== 'done', longestRowWaitMs));
      if (outcome !== 'refused') {
        const fails = outcome === 'failed';
        ownerWaits.set(owner, wait(ownerWaits.get(owner), fails, longestOwnerWaitMs));
      }
    },
  };
}

function forgetAllBut<K>(map: Map<K, unknown>, kept: ReadonlySet<K>): void {
  for (const key of map.keys()) {
    if (!kept.has(key)) {
      map.delete(key);
    }
  }
}

/**
 * Works through items a few at a time, and fewer per owner. Resolves when all have ended; `work` must not throw.
 */
export async function runBounded<T>(
  items: readonly T[],
  limits: { readonly parallel: number; readonly perOwner: number },
  ownerOf: (item: T) => string,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const running = new Map<string, number>();
  async function next(): Promise<void> {
    for (;;) {
      const index = waiting.findIndex(
        (item) => (running.get(ownerOf(item)) ?? 0) < limits.perOwner,
      );
      const [item] = index === -1 ? [] : waiting.splice(index, 1);
      if (item === undefined) {
        // The items left belong to owners at their limit: the runners of those owners continue with them.
        return;
      }
      const owner = ownerOf(item);
      running.set(owner, (running.get(owner) ?? 0) + 1);
      await work(item);
      running.set(owner, (running.get(owner) ?? 1) - 1);
    }
  }
  await Promise.all(Array.from({ length: limits.parallel }, () => next()));
}
