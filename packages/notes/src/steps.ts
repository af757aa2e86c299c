/**
 * Computations that stop every few milliseconds. A process that serves requests drives them itself and lets
 * others have their turn at each stop; everybody else runs them to the end.
 *
 * @module
 */

/** Stops after each piece of work, and returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The result, without a stop. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}
