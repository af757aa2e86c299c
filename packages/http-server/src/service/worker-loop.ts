/**
 * A background worker: one pass at a time, at an interval or when kicked, until stopped.
 *
 * @module
 */
import { describeFailure, type Log } from './log.ts';

export type WorkerLoop = {
  /** Runs a pass soon; while one is running, one more follows it. */
  kick(): void;
  /** Runs a pass, and resolves when a pass that began after this call has ended, with or without an error. */
  passNow(): Promise<void>;
  /** Resolves when the pass in progress has ended. */
  stop(): Promise<void>;
};

export function startWorkerLoop(options: {
  readonly name: string;
  readonly intervalMs: number;
  /** One pass. An error is logged, and the next pass follows as usual. */
  readonly pass: () => Promise<void>;
  readonly log: Log;
}): WorkerLoop {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let kicked = false;
  let waiting: (() => void)[] = [];

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
    const served = waiting;
    waiting = [];
    running = options
      .pass()
      .catch((error: unknown) => {
        options.log.warn({ worker: options.name, ...describeFailure(error) }, 'worker pass failed');
      })
      .finally(() => {
        running = undefined;
        for (const resolve of served) {
          resolve();
        }
        schedule(kicked ? 0 : options.intervalMs);
      });
  }

  function kick(): void {
    if (running === undefined) {
      schedule(0);
    } else {
      kicked = true;
    }
  }

  schedule(0);
  return {
    kick,
    async passNow() {
      if (stopped) {
        return;
      }
      const { promise, resolve } = Promise.withResolvers<undefined>();
      waiting.push(() => {
        resolve(undefined);
      });
      kick();
      await promise;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
      for (const resolve of waiting) {
        resolve();
      }
    },
  };
}
