/**
 * A background worker: one pass at a time, at an interval or when kicked, until stopped.
 *
 * @module
 */
import { describeFailure, type Log } from './log.ts';

export type WorkerLoop = {
  /** Runs a pass soon; while one is running, one more follows it. */
  kick(): void;
  /** Resolves when the pass under way has ended. */
  stop(): Promise<void>;
};

export function startWorkerLoop(options: {
  readonly name: string;
  readonly intervalMs: number;
  /** One pass. What it throws is logged, and the next pass comes as usual. */
  readonly pass: () => Promise<void>;
  readonly log: Log;
}): WorkerLoop {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let kicked = false;

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (!stopped) {
      timer = setTimeout(run, ms);
    }
  }

  function run(): void {
    if (running !== undefined) {
      kicked = true;
      return;
    }
    kicked = false;
    running = options
      .pass()
      .catch((error: unknown) => {
        options.log.warn({ worker: options.name, ...describeFailure(error) }, 'worker pass failed');
      })
      .finally(() => {
        running = undefined;
        schedule(kicked ? 0 : options.intervalMs);
      });
  }

  schedule(0);
  return {
    kick() {
      if (running === undefined) {
        schedule(0);
      } else {
        kicked = true;
      }
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
