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

/** How long a computation may keep the thread before the others get their turn, milliseconds. */
const sliceMs = 8;

/** @returns what to await between two pieces of work: gives way when the slice is used up */
export function createPace(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs >= sliceMs) {
      await giveWay();
      sinceMs = performance.now();
    }
  };
}

/** Drives a computation that stops after each piece of work. @throws what it throws */
export async function computeInTurns<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
  const pace = createPace();
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    await pace();
  }
}
