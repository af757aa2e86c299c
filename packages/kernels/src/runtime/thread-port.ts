/**
 * One thin port over a thread: a worker thread of Node (also of Bun and Deno), or a module Web Worker of a browser. A Web Worker has
 * no event for its end and does not keep anything alive, so the rest of the code relies on neither.
 *
 * @module
 */
import type { Worker as NodeWorker, ResourceLimits, Transferable } from 'node:worker_threads';
import { KernelsError } from './errors.ts';
import { findBuiltin } from './module-beside.ts';

/** The part of a browser's Worker, and of its global scope, that is used here. */
export type WebWorker = {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onmessageerror: (() => void) | null;
  onerror: ((event: { readonly message?: string; preventDefault(): void }) => void) | null;
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  terminate(): void;
};

/** Declare `Worker` with this type where a literal `new Worker(new URL('./x.js', import.meta.url), { type: 'module' })` starts it. */
export type WebWorkerConstructor = new (
  file: URL,
  options: { readonly type: 'module' },
) => WebWorker;

export type ThreadProgram = {
  /** The thread's own module, for Node. */
  readonly file: URL;
  /** Starts it in a browser. It contains the literal that bundlers understand. */
  readonly open?: (() => WebWorker) | undefined;
  readonly resourceLimits?: ResourceLimits;
};

export type ThreadEvents = {
  readonly onMessage: (message: unknown) => void;
  /** The thread runs nothing any more. Called once, also after `end`. */
  readonly onEnd: (cause: Error) => void;
};

export type Thread = {
  /** @throws DataCloneError for a message that is not plain data */
  readonly post: (message: unknown, transfer?: readonly Transferable[]) => void;
  /** Whether the thread keeps the process alive. */
  readonly setWorking: (working: boolean) => void;
  readonly end: () => Promise<void>;
};

/** A module or one of its imports did not load: an error that another try does not repair. */
function missingFile(file: URL, cause?: unknown): KernelsError {
  const name = file.pathname.split('/').at(-1);
  return new KernelsError(
    'thread_file_missing',
    `the program of a thread did not load: ${name} of ${file.protocol === 'file:' ? file.pathname : file.href}. A bundler must write it as a file of its own (see the README of @pool/prover), and the page's policy must allow it (worker-src 'self')`,
    { cause },
  );
}

function isMissingModule(error: Error): boolean {
  return 'code' in error && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}

function startNodeThread(
  Worker: typeof NodeWorker,
  { file, resourceLimits = {} }: ThreadProgram,
  { onMessage, onEnd }: ThreadEvents,
): Thread {
  // The thread does not use the environment or the flags of the process (debugger, loaders, conditions): it imports only files
  // beside it.
  const worker = new Worker(file, { env: {}, execArgv: [], resourceLimits });
  let cause: Error | undefined;
  worker.on('message', onMessage);
  worker.on('messageerror', (error) => {
    cause = error;
    void worker.terminate();
  });
  worker.on('error', (error) => {
    cause =
      error instanceof Error
        ? error
        : new Error('the thread threw a value that is not an Error', { cause: error });
  });
  // Node delivers every message before `exit`.
  worker.on('exit', (code) => {
    const reason = cause ?? new Error(`the thread ended with exit code ${code}`);
    onEnd(isMissingModule(reason) ? missingFile(file, reason) : reason);
  });
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, [...transfer]);
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

function startWebWorker({ file, open }: ThreadProgram, { onMessage, onEnd }: ThreadEvents): Thread {
  if (open === undefined) throw missingFile(file);
  const worker = open();
  let ended = false;
  const end = (cause: Error): void => {
    if (ended) return;
    ended = true;
    worker.terminate();
    onEnd(cause);
  };
  worker.onmessage = ({ data }) => {
    if (!ended) onMessage(data);
  };
  worker.onmessageerror = () => {
    end(new Error('a message of the thread cannot be read'));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // Only a script that did not load gives an event without a message.
    end(event.message ? new Error(event.message) : missingFile(file));
  };
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, transfer);
    },
    setWorking: () => undefined,
    end: () => {
      end(new Error('the thread was ended'));
      return Promise.resolve();
    },
  };
}

/** @throws what the constructor of the worker throws; KernelsError `thread_file_missing` */
export function startThread(program: ThreadProgram, events: ThreadEvents): Thread {
  const threads = findBuiltin('node:worker_threads');
  return threads === undefined
    ? startWebWorker(program, events)
    : startNodeThread(threads.Worker, program, events);
}

type Post = (message: unknown, transfer?: readonly Transferable[]) => void;

/** In the thread: receives its messages. Does nothing in a module that no thread runs. */
export function serveThread(onMessage: (message: unknown, post: Post) => void): void {
  const threads = findBuiltin('node:worker_threads');
  if (threads === undefined) {
    const scope = globalThis as unknown as WebWorker;
    scope.onmessage = ({ data }) => {
      onMessage(data, (message, transfer = []) => {
        scope.postMessage(message, transfer);
      });
    };
    return;
  }
  const { parentPort } = threads;
  parentPort?.on('message', (message) => {
    onMessage(message, (answer, transfer = []) => {
      parentPort.postMessage(answer, [...transfer]);
    });
  });
}

/**
 * Whether threads can share memory. In a browser, only if the page is cross-origin isolated (the headers
 * `Cross-Origin-Opener-Policy: same-origin` and `Cross-Origin-Embedder-Policy: require-corp`).
 */
export function canShareMemory(): boolean {
  const { crossOriginIsolated = true } = globalThis as { readonly crossOriginIsolated?: boolean };
  return crossOriginIsolated && typeof SharedArrayBuffer === 'function';
}

/** Resolves when other work of the event loop has had its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve);
      return;
    }
    // In a browser, a timer would wait for 4 ms.
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
