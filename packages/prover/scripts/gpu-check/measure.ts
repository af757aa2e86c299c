/** Milliseconds of the fastest of several runs: other work on the machine only increases the time. */
export async function measure(times: number, run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < times; k++) {
    const startedAt = performance.now();
    await run();
    best = Math.min(best, performance.now() - startedAt);
  }
  return best;
}
