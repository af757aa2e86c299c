/**
 * How long work that reports a fraction still takes.
 *
 * @module
 */

/** Before that, the first reports say little. */
const minElapsedMs = 1_500;
const minFraction = 0.02;

/**
 * Estimates from the pace since the first report, in which a pause shortens nothing.
 * @returns a function of the fraction done, 0 to 1, and a steady clock; it gives whole seconds left, at least 1, or undefined while
 *   nobody can know
 */
export function createTimeLeft(): (fraction: number, steadyMs: number) => number | undefined {
  let first: { readonly fraction: number; readonly steadyMs: number } | undefined;
  return (fraction, steadyMs) => {
    // Work that began again has a new pace.
    if (first === undefined || fraction < first.fraction) {
      first = { fraction, steadyMs };
    }
    const elapsedMs = steadyMs - first.steadyMs;
    const done = fraction - first.fraction;
    if (elapsedMs < minElapsedMs || done < minFraction) {
      return undefined;
    }
    return Math.max(1, Math.ceil(((1 - fraction) * elapsedMs) / done / 1_000));
  };
}
