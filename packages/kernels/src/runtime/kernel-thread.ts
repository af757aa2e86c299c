/**
 * One kernel thread, seen from the main thread.
 *
 * @module
 */
import { KernelsError } from './errors.ts';
import { moduleBeside } from './module-beside.ts';
import { findBuiltin } from './node-builtin.ts';
import type { ThreadAnswer, ThreadOrder, ThreadWork } from './thread-messages.ts';

export type ThreadEvents = {
  readonly onDone: (id: number, failure: string | undefined) => void;
  /** The thread ended and runs nothing any more. Called once, also after `end`. */
  readonly onExit: (cause: unknown) => void;
};

export type KernelThread = {
  /** Resolves when the thread accepts orders. Rejects with the cause if it ends before. Orders may be sent immediately. */
  readonly ready: Promise<void>;
  readonly send: (order: ThreadOrder) => void;
  /** Whether the thread keeps the process alive. */
  readonly setWorking: (working: boolean) => void;
  readonly end: () => Promise<void>;
};

/** @throws KernelsError `start_failed` where there is no Node */
export function startKernelThread(work: ThreadWork, events: ThreadEvents): KernelThread {
  const threads = findBuiltin('node:worker_threads');
  if (threads === undefined) {
    throw new KernelsError('start_failed', 'the kernels start threads in Node only');
  }
  // The worker does not use the environment or the flags of the process (debugger, loaders, conditions): it imports only files
  // beside it.
  const worker = new threads.Worker(moduleBeside(import.meta.url, 'kernel-worker'), {
    workerData: work,
    env: {},
    execArgv: [],
    // A kernel thread makes little garbage. Without a limit, V8 keeps tens of megabytes of it in every thread.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const ready = Promise.withResolvers<undefined>();
  // A caller that does not wait for `ready` learns of the end through `onExit`.
  ready.promise.catch(() => undefined);
  let cause: Error | undefined;
  worker.on('message', (answer: ThreadAnswer) => {
    if (answer.type === 'ready') ready.resolve(undefined);
    else events.onDone(answer.id, answer.failure);
  });
  worker.on('error', (error) => {
    cause =
      error instanceof Error
        ? error
        : new Error('the thread threw a value that is not an Error', { cause: error });
  });
  worker.on('exit', (code) => {
    ready.reject(cause ?? new Error(`the thread ended with code ${code}`));
    events.onExit(cause);
  });
  return {
    ready: ready.promise,
    send: (order) => {
      worker.postMessage(order);
    },
    setWorking: (working) => {
      if (working) worker.ref();
      else worker.unref();
    },
    end: async () => {
      await worker.terminate();
    },
  };
}
