/**
 * Lets requests, timers and lease renewals have their turn between two pieces of computing: one process serves
 * routes and drives jobs on one thread.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves in the next turn of the event loop. */
export async function giveWay(): Promise<void> {
  await nextTurn();
}

/** A job that waits to compute; the lower its rank, the earlier it began. */
type Waiting = { readonly rank: number; readonly resolve: () => void };

const line: Waiting[] = [];
let lastRank = 0;

/**
 * Resolves in a turn of the event loop in which no other job of this process goes on computing: many jobs underway
 * would else keep the routes waiting for the sum of their slices. Who began first comes first: jobs that shared the
 * thread evenly would all be ready for the prover late and at once.
 */
async function waitInLine(rank: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const isFirst = line.length === 0;
    const position = line.findIndex((other) => other.rank > rank);
    line.splice(position === -1 ? line.length : position, 0, { rank, resolve });
    if (isFirst) {
      setImmediate(callNext);
    }
  });
}

function callNext(): void {
  line.shift()?.resolve();
  // Runs in the turn after this one. Whom we called may be back in the line by then, and is called again.
  if (line.length > 0) {
    setImmediate(callNext);
  }
}

/** How long a computation may keep the thread before the others get their turn, milliseconds. */
const sliceMs = 8;

/** What to await between two pieces of work: gives way when the slice is used up. */
export type Pace = () => Promise<void>;

/** For the work of a request. */
export function createPace(): Pace {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs >= sliceMs) {
      await giveWay();
      sinceMs = performance.now();
    }
  };
}

/** For all the work of one job: a single job computes in a turn of the event loop, the one that began first. */
export function createJobPace(): Pace {
  lastRank += 1;
  const rank = lastRank;
  let sinceMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - sinceMs >= sliceMs) {
      await waitInLine(rank);
      sinceMs = performance.now();
    }
  };
}

/** Drives a computation that stops after each piece of work. @throws what it throws */
export async function computeInTurns<T>(
  steps: Generator<undefined, T, undefined>,
  pace: Pace,
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    await pace();
  }
}
