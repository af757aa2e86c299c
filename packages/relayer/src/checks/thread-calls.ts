/**
 * Calls into a thread, one at a time. The thread stays for the next call. When it dies, or is ended because it took too
 * long, its current call fails, and the next call starts another thread. An idle thread does not keep the
 * process alive.
 *
 * @module
 */
import { parentPort, Worker } from 'node:worker_threads';

type Answer<Result> = { readonly result: Result } | { readonly failure: string };

export type ThreadCalls<Request, Result> = {
  /** Starts the thread, so that the first call does not wait for it. */
  start(): void;
  /** @throws Error when the thread failed, ended, took too long, or is closed */
  call(request: Request): Promise<Result>;
  /** Ends the thread. The current call and all waiting calls fail. */
  close(): Promise<void>;
};

/**
 * @param program - the thread's own module, which calls {@link serveThread}
 * @param timeoutMs - how long one call may run, the start of the thread included
 */
export function createThreadCalls<Request, Result>(
  program: URL,
  timeoutMs: number,
): ThreadCalls<Request, Result> {
  let worker: Worker | undefined;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    // Without the environment: the relayer's key may be in it.
    const thread = new Worker(program, { env: {} });
    const forget = (): void => {
      if (worker === thread) {
        worker = undefined;
      }
    };
    // For its whole life: a thread that dies between two calls must not end the process, and must get no further call.
    thread.on('error', forget);
    thread.on('exit', forget);
    thread.unref();
    return thread;
  }

  async function callNow(request: Request): Promise<Result> {
    if (closed) {
      throw new Error('the thread is closed');
    }
    worker ??= start();
    const thread = worker;
    thread.ref();
    try {
      const answer = await ask<Request, Result>(thread, request, timeoutMs);
      if ('failure' in answer) {
        throw new Error(answer.failure);
      }
      return answer.result;
    } catch (error) {
      // Its work may still run, and its state is unknown.
      if (worker === thread) {
        worker = undefined;
      }
      await thread.terminate();
      throw error;
    } finally {
      thread.unref();
    }
  }

  return {
    start() {
      if (!closed) {
        worker ??= start();
      }
    },
    async call(request) {
      const answer = turn.then(() => callNow(request));
      turn = answer.catch(() => undefined);
      return await answer;
    },
    async close() {
      closed = true;
      const thread = worker;
      worker = undefined;
      await thread?.terminate();
      await turn;
    },
  };
}

async function ask<Request, Result>(
  thread: Worker,
  request: Request,
  timeoutMs: number,
): Promise<Answer<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Result>>();
  const exited = (code: number): void => {
    reject(new Error(`the thread ended with code ${code}`));
  };
  const timer = setTimeout(() => reject(new Error('the thread took too long')), timeoutMs);
  thread.once('message', resolve);
  thread.once('messageerror', reject);
  thread.once('error', reject);
  thread.once('exit', exited);
  try {
    thread.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    thread.off('message', resolve);
    thread.off('messageerror', reject);
    thread.off('error', reject);
    thread.off('exit', exited);
  }
}

/** In the thread: answers each request with what `work` returns. */
export function serveThread<Request, Result>(work: (request: Request) => Promise<Result>): void {
  parentPort?.on('message', (request: Request) => {
    work(request).then(
      (result) => parentPort?.postMessage({ result } satisfies Answer<Result>),
      (error: unknown) =>
        parentPort?.postMessage({
          failure: error instanceof Error ? error.message : 'the thread failed',
        } satisfies Answer<Result>),
    );
  });
}
