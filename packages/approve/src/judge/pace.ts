/**
 * Runs a long computation in slices: the rebuild of 256 notes takes a second, and health, callbacks and votes go on meanwhile.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 8;

/** @throws the error of the computation */
export async function runInSlices<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
  let sinceMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    if (performance.now() - sinceMs >= sliceMs) {
      await nextTurn();
      sinceMs = performance.now();
    }
  }
}
