/**
 * Calls into a worker thread, one at a time. The thread starts with the first call and stays for the next ones. When a call is
 * aborted, the thread is ended at once. If the thread died, the next call starts another. An idle thread does not keep the
 * process alive.
 *
 * @module
 */
import { parentPort, type Transferable, Worker } from 'node:worker_threads';
import { argumentError, closedError, ProverError, type ProverErrorCode } from './errors.ts';

// Joins several abort signals into one. AbortSignal.any leaves memory behind in each of its sources. Our sources live as long as
// the prover, and each call joins them.

/** Call `release` when the work is done: it removes the listeners from the sources. */
export function joinSignals(...sources: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const joined = new AbortController();
  const listeners = sources
    .filter((source) => source !== undefined)
    .map((source) => {
      const abort = () => {
        joined.abort(source.reason);
      };
      if (source.aborted) {
        abort();
      }
      source.addEventListener('abort', abort, { once: true });
      return { source, abort };
    });
  return {
    signal: joined.signal,
    release: () => {
      for (const { source, abort } of listeners) {
        source.removeEventListener('abort', abort);
      }
    },
  };
}

type Answer =
  | { readonly type: 'result'; readonly result: unknown }
  | {
      readonly type: 'error';
      readonly code: ProverErrorCode;
      readonly message: string;
      readonly retryable: boolean;
      readonly reason: string | undefined;
    };

export type WorkerLink<Request, Result> = {
  /**
   * @throws the signal's reason; the ProverError that the thread threw; `proof_failed` if the thread cannot start or dies;
   *   `argument_invalid` if the request cannot be cloned; `prover_closed`
   */
  readonly call: (request: Request, signal?: AbortSignal) => Promise<Result>;
  /** Ends the thread. Running and waiting calls fail. */
  readonly close: () => Promise<void>;
};

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}

function toError(answer: Extract<Answer, { type: 'error' }>): ProverError {
  return new ProverError(answer.code, answer.message, {
    retryable: answer.retryable,
    cause: answer.reason === undefined ? undefined : new Error(answer.reason),
  });
}

/** @param program - the thread's own module, which calls {@link serveCalls} */
export function createWorkerLink<Request, Result>(program: URL): WorkerLink<Request, Result> {
  let worker: Worker | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  const start = (): Worker => {
    let thread: Worker;
    try {
      // The thread needs neither the environment nor the flags of this process.
      thread = new Worker(program, { env: {}, execArgv: [] });
    } catch (error) {
      throw new ProverError('proof_failed', 'A thread of the prover cannot start.', {
        retryable: true,
        cause: error,
      });
    }
    const forget = () => {
      if (worker === thread) {
        worker = undefined;
      }
    };
    // The listeners stay for the thread's whole life: a thread that dies between two calls must not end the process, and must not
    // receive another call.
    thread.on('error', forget);
    thread.on('exit', forget);
    return thread;
  };

  const end = async (thread: Worker | undefined): Promise<void> => {
    if (worker === thread) {
      worker = undefined;
    }
    await thread?.terminate();
  };

  const callNow = async (request: Request, signal: AbortSignal): Promise<Result> => {
    if (signal.aborted) {
      throw reasonOf(signal);
    }
    worker ??= start();
    const thread = worker;
    thread.ref();
    let stop = () => {};
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        const died = (cause: unknown) => {
          reject(
            new ProverError('proof_failed', 'A thread of the prover ended before it was done.', {
              retryable: true,
              cause,
            }),
          );
        };
        // A thread that throws exits next. Its answer may still be on its way: Node.js delivers every message before `exit`.
        let thrown: unknown;
        const threw = (cause: unknown) => {
          thrown = cause;
        };
        const exited = (code: number) => {
          died(thrown ?? new Error(`exit code ${code}`));
        };
        const aborted = () => {
          reject(reasonOf(signal));
        };
        thread.once('message', resolve);
        thread.once('messageerror', died);
        thread.once('error', threw);
        thread.once('exit', exited);
        signal.addEventListener('abort', aborted, { once: true });
        stop = () => {
          thread.off('message', resolve);
          thread.off('messageerror', died);
          thread.off('error', threw);
          thread.off('exit', exited);
          signal.removeEventListener('abort', aborted);
        };
        try {
          thread.postMessage(request);
        } catch (error) {
          // Structured clone refuses functions, symbols and the like.
          reject(argumentError('An argument contains something that is not plain data.', error));
        }
      });
      stop();
      thread.unref();
      if (answer.type === 'error') {
        throw toError(answer);
      }
      // The thread runs our own program, and no other code can write to this channel.
      return answer.result as Result;
    } catch (error) {
      stop();
      if (!(error instanceof ProverError) || signal.aborted || error.code === 'proof_failed') {
        await end(thread);
      }
      throw error;
    }
  };

  return {
    call: async (request, signal) => {
      if (closing.signal.aborted) {
        throw closedError();
      }
      const { signal: either, release } = joinSignals(closing.signal, signal);
      let isWaiting = true;
      const answer = turn.then(() => {
        isWaiting = false;
        return callNow(request, either);
      });
      turn = answer.catch(() => undefined);
      // Once a call runs, it settles when its thread has ended.
      const left = new Promise<never>((_, reject) => {
        const leave = () => {
          if (isWaiting) {
            reject(reasonOf(either));
          }
        };
        either.addEventListener('abort', leave, { once: true });
      });
      try {
        return await Promise.race([answer, left]);
      } finally {
        release();
      }
    },
    close: async () => {
      closing.abort(closedError());
      await turn;
      await end(worker);
    },
  };
}

/** In the thread: answers each request with the result of `work` and transfers the buffers that it names. */
export function serveCalls<Request, Result>(
  work: (request: Request) => {
    readonly result: Result;
    readonly transfer?: readonly Transferable[];
  },
): void {
  parentPort?.on('message', (request: Request) => {
    let answer: Answer;
    let transfer: readonly Transferable[] = [];
    try {
      const done = work(request);
      answer = { type: 'result', result: done.result };
      transfer = done.transfer ?? [];
    } catch (error) {
      const known = error instanceof ProverError ? error : undefined;
      answer = {
        type: 'error',
        code: known?.code ?? 'proof_failed',
        message: known?.message ?? 'A thread of the prover failed.',
        retryable: known?.retryable ?? true,
        reason: known === undefined ? describe(error) : describe(known.cause),
      };
    }
    parentPort?.postMessage(answer, [...transfer]);
  });
}

function describe(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}
