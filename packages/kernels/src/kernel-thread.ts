/**
 * One kernel thread as the main thread sees it.
 *
 * @module
 */
import { Worker } from 'node:worker_threads';
import { moduleBeside } from './module-beside.ts';
import type { ThreadAnswer, ThreadOrder, ThreadWork } from './thread-messages.ts';

export type ThreadEvents = {
  readonly onDone: (id: number, failure: string | undefined) => void;
  /** The thread is gone, with nothing of it running any more. Called once, also after `end`. */
  readonly onExit: (cause: unknown) => void;
};

export type KernelThread = {
  /** Resolves when it takes orders; rejects with the cause if it ends before. Orders may be sent at once. */
  readonly ready: Promise<void>;
  readonly send: (order: ThreadOrder) => void;
  /** Whether the thread keeps the process alive. */
  readonly setWorking: (working: boolean) => void;
  readonly end: () => Promise<void>;
};

export function startKernelThread(work: ThreadWork, events: ThreadEvents): KernelThread {
  // The worker reads no environment and takes no flag of the process (debugger, loaders, conditions): it imports only files beside it.
  const worker = new Worker(moduleBeside(import.meta.url, 'kernel-worker'), {
    workerData: work,
    env: {},
    execArgv: [],
    // It makes little garbage; without a limit V8 lets tens of megabytes of it lie in every thread.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const ready = Promise.withResolvers<undefined>();
  // Whoever does not wait for it learns of the end by `onExit`.
  ready.promise.catch(() => undefined);
  let cause: Error | undefined;
  worker.on('message', (answer: ThreadAnswer) => {
    if (answer.type === 'ready') ready.resolve(undefined);
    else events.onDone(answer.id, answer.failure);
  });
  worker.on('error', (error) => {
    cause =
      error instanceof Error ? error : new Error('the thread threw no error', { cause: error });
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
