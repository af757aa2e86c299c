/**
 * Computations that pause every few milliseconds. A process that serves requests runs other work at each pause. Other callers run
 * the computation to the end.
 *
 * @module
 */

/** Pauses after each piece of work, and returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The result, without pauses. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}
