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

/** Jobs that wait for their turn to compute, the one that waits longest first. */
const line: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop in which no other job of this process goes on computing: many jobs underway
 * would else keep the routes waiting for the sum of their slices.
 */
async function waitInLine(): Promise<void> {
  await new Promise<void>((resolve) => {
    line.push(resolve);
    if (line.length === 1) {
      setImmediate(callNext);
    }
  });
}

function callNext(): void {
  line.shift()?.();
  // Runs in the turn after this one.
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

/** For the work of a job: one job computes in a turn of the event loop. */
export function createJobPace(): Pace {
  let sinceMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - sinceMs >= sliceMs) {
      await waitInLine();
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
