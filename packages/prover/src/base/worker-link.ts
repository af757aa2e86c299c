/**
 * Calls into a worker thread, one at a time. The thread starts with the first call and stays for the next ones. When a call is
 * aborted, the thread is ended at once. If the thread died, the next call starts another. An idle thread does not keep the
 * process alive.
 *
 * @module
 */
import { startThread, type Thread, type WebWorker } from '@pool/kernels';
import { argumentError, closedError, ProverError } from './errors.ts';
import { assertRuntime } from './runtime.ts';
import type { Answer } from './serve-calls.ts';

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

export type WorkerLink<Request, Result> = {
  /** Starts the thread if there is none, so that the next call is faster. That call tells of a failure. */
  readonly start: () => void;
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

/** Why a thread ended, as an error of the call that it worked for. */
function endError(cause: unknown, message: string): ProverError {
  const isMissing =
    cause instanceof Error && 'code' in cause && cause.code === 'thread_file_missing';
  return isMissing
    ? new ProverError('thread_file_missing', cause.message, { cause })
    : new ProverError('proof_failed', message, { retryable: true, cause });
}

/**
 * @param file - the thread's own module, which calls {@link serveCalls}
 * @param open - starts it in a browser
 * @throws ProverError `runtime_unsupported`
 */
export function createWorkerLink<Request, Result>(
  file: URL,
  open?: () => WebWorker,
): WorkerLink<Request, Result> {
  type Call = {
    readonly onAnswer: (answer: Answer) => void;
    readonly onEnd: (cause: Error) => void;
  };
  assertRuntime();
  let worker: { readonly thread: Thread; call: Call | undefined } | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  const start = (): NonNullable<typeof worker> => {
    try {
      const started: NonNullable<typeof worker> = {
        thread: startThread(
          { file, open },
          {
            onMessage: (answer) => started.call?.onAnswer(answer as Answer),
            // A thread that dies between two calls must not receive another call.
            onEnd: (cause) => {
              if (worker === started) {
                worker = undefined;
              }
              started.call?.onEnd(cause);
            },
          },
        ),
        call: undefined,
      };
      return started;
    } catch (error) {
      throw endError(error, 'A thread of the prover cannot start.');
    }
  };

  const end = async (ending: typeof worker): Promise<void> => {
    if (worker === ending) {
      worker = undefined;
    }
    await ending?.thread.end();
  };

  const callNow = async (request: Request, signal: AbortSignal): Promise<Result> => {
    if (signal.aborted) {
      throw reasonOf(signal);
    }
    worker ??= start();
    const used = worker;
    used.thread.setWorking(true);
    let stop = () => {};
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        const aborted = () => {
          reject(reasonOf(signal));
        };
        used.call = {
          onAnswer: resolve,
          onEnd: (cause) => {
            reject(endError(cause, 'A thread of the prover ended before it was done.'));
          },
        };
        signal.addEventListener('abort', aborted, { once: true });
        stop = () => {
          used.call = undefined;
          signal.removeEventListener('abort', aborted);
        };
        try {
          used.thread.post(request);
        } catch (error) {
          // Structured clone refuses functions, symbols and the like.
          reject(argumentError('An argument contains something that is not plain data.', error));
        }
      });
      if (answer.type === 'error') {
        throw toError(answer);
      }
      stop();
      used.thread.setWorking(false);
      // The thread runs our own program, and no other code can write to this channel.
      return answer.result as Result;
    } catch (error) {
      stop();
      if (!(error instanceof ProverError) || signal.aborted || error.code === 'proof_failed') {
        await end(used);
      } else {
        used.thread.setWorking(false);
      }
      throw error;
    }
  };

  return {
    start: () => {
      if (worker !== undefined || closing.signal.aborted) {
        return;
      }
      try {
        worker = start();
        worker.thread.setWorking(false);
      } catch {
        // The next call tries again.
      }
    },
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
