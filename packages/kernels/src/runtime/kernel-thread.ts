/**
 * One kernel thread, seen from the thread that gives the orders: a worker, or, where threads cannot share memory, the calling thread
 * itself, which gives way to the event loop between two calls.
 *
 * @module
 */
import { createOrderRunner } from './kernel-orders.ts';
import { moduleBeside } from './module-beside.ts';
import type { ThreadAnswer, ThreadOrder, ThreadWork } from './thread-messages.ts';
import { nextTurn, startThread, type WebWorkerConstructor } from './thread-port.ts';

declare const Worker: WebWorkerConstructor;

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

/** @throws what the constructor of the worker throws */
export function startKernelThread(work: ThreadWork, events: ThreadEvents): KernelThread {
  const ready = Promise.withResolvers<undefined>();
  // A caller that does not wait for `ready` learns of the end through `onExit`.
  ready.promise.catch(() => undefined);
  const { post, setWorking, end } = startThread(
    {
      file: moduleBeside(import.meta.url, 'kernel-worker'),
      open: () => new Worker(new URL('./kernel-worker.js', import.meta.url), { type: 'module' }),
      // A kernel thread makes little garbage. Without a limit, V8 keeps tens of megabytes of it in every thread.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    },
    {
      onMessage: (message) => {
        const answer = message as ThreadAnswer;
        if (answer.type === 'ready') ready.resolve(undefined);
        else events.onDone(answer.id, answer.failure);
      },
      onEnd: (cause) => {
        ready.reject(cause);
        events.onExit(cause);
      },
    },
  );
  post(work);
  return { ready: ready.promise, send: post, setWorking, end };
}

/** How long the calling thread works before it gives way, in milliseconds: half the time of a frame. A call takes a few more. */
const sliceMs = 8;

/** @throws what the module throws when it is instantiated */
export function startInlineThread(work: ThreadWork, events: ThreadEvents): KernelThread {
  const run = createOrderRunner(work);
  let ended = false;
  let last: Promise<void> = Promise.resolve();
  let since = 0;
  const execute = async (order: ThreadOrder): Promise<void> => {
    const steps = run(order);
    for (;;) {
      if (performance.now() - since > sliceMs) {
        await nextTurn();
        since = performance.now();
      }
      if (ended) return;
      const step = steps.next();
      if (step.done === true) {
        events.onDone(order.id, step.value);
        return;
      }
    }
  };
  return {
    ready: Promise.resolve(),
    send: (order) => {
      last = last.then(() => execute(order));
    },
    setWorking: () => undefined,
    end: async () => {
      if (ended) return;
      ended = true;
      await last;
      events.onExit(new Error('the thread was ended'));
    },
  };
}
