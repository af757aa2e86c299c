// Two kinds of load on a route. At a fixed rate, even if the route is slower: each answer is timed from the moment it was due, so
// the wait behind a slow one counts. And with a few callers, each of which sends one request after the other.

/** True: the answer was correct. */
export type Call = () => Promise<boolean>;

export interface LoadResult {
  readonly requests: number;
  readonly errors: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The smallest value that a share of `share` of all values does not exceed. */
export function findQuantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function summarise(durationsMs: readonly number[], errors: number, seconds: number): LoadResult {
  return {
    requests: durationsMs.length,
    errors,
    seconds,
    perSecond: durationsMs.length / seconds,
    p50Ms: findQuantile(durationsMs, 0.5),
    p99Ms: findQuantile(durationsMs, 0.99),
    maxMs: findQuantile(durationsMs, 1),
  };
}

function isRight(call: Call): Promise<boolean> {
  return call().catch(() => false);
}

/** Makes `perSecond` calls per second for this number of seconds, and waits for every answer. */
export async function callAtRate(
  call: Call,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<LoadResult> {
  const durationsMs: number[] = [];
  let errors = 0;
  const started = performance.now();
  const timed = async (dueMs: number): Promise<void> => {
    if (!(await isRight(call))) errors += 1;
    durationsMs.push(performance.now() - dueMs);
  };
  const underway: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const dueMs = started + (index * 1000) / perSecond;
    await pause(Math.max(0, dueMs - performance.now()));
    underway.push(timed(dueMs));
  }
  await Promise.all(underway);
  return summarise(durationsMs, errors, (performance.now() - started) / 1000);
}

/** `callers` at once, each calling again when it has its answer. */
export async function callAtWill(
  call: Call,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<LoadResult> {
  const durationsMs: number[] = [];
  let errors = 0;
  const started = performance.now();
  const end = started + 1000 * seconds;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let now = performance.now(); now < end; now = performance.now()) {
        if (!(await isRight(call))) errors += 1;
        durationsMs.push(performance.now() - now);
      }
    }),
  );
  return summarise(durationsMs, errors, (performance.now() - started) / 1000);
}
