/**
 * Pauses between two pieces of computing. One process serves the routes and runs the jobs on one thread, so requests,
 * timers and lease renewals must also run.
 *
 * @module
 */

/** How long a computation may use the thread before other work runs, in milliseconds. */
const sliceMs = 8;

/** Awaited between two pieces of work. Yields when the time slice has ended. */
export type Pace = () => Promise<void>;

/** Runs a function in the next turn of the event loop. A browser has no `setImmediate`. */
const runNext: (run: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : setTimeout;

/** Resolves in the next turn of the event loop. */
export async function giveWay(): Promise<void> {
  await new Promise<void>(runNext);
}

/** For the work of a request. */
export function createPace(): Pace {
  return createSlices(performance.now(), giveWay);
}

/** The order in which the jobs of one process compute. Created once per process. */
export type ComputeQueue = {
  /** For all the work of one job. A job that requested its pace earlier computes first. */
  createJobPace(): Pace;
};

/** A job that waits to compute. The lower its rank, the earlier it began. */
type Waiting = { readonly rank: number; readonly resolve: () => void };

/**
 * One job computes per event-loop turn, so many jobs cannot starve the routes. The oldest job goes first, so that jobs
 * become ready for the prover one after the other instead of all late and at once.
 */
export function createComputeQueue(): ComputeQueue {
  const waiting: Waiting[] = [];
  let lastRank = 0;

  async function waitInLine(rank: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const isFirst = waiting.length === 0;
      const position = waiting.findIndex((other) => other.rank > rank);
      waiting.splice(position === -1 ? waiting.length : position, 0, { rank, resolve });
      if (isFirst) {
        runNext(callNext);
      }
    });
  }

  function callNext(): void {
    waiting.shift()?.resolve();
    // Runs in the turn after this one. The job just called may be waiting again by then.
    if (waiting.length > 0) {
      runNext(callNext);
    }
  }

  return {
    createJobPace() {
      lastRank += 1;
      const rank = lastRank;
      return createSlices(Number.NEGATIVE_INFINITY, () => waitInLine(rank));
    },
  };
}

/** @param startedAtMs - when the first slice began; before any time: the first piece of work waits too */
function createSlices(startedAtMs: number, wait: () => Promise<void>): Pace {
  let sinceMs = startedAtMs;
  return async () => {
    if (performance.now() - sinceMs >= sliceMs) {
      await wait();
      sinceMs = performance.now();
    }
  };
}

/** Runs a computation that stops after each piece of work. @throws the error of the computation */
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
