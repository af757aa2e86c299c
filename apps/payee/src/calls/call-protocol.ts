/**
 * Calls from the window into its worker: one message for each call, progress and one answer for it. Errors keep their code. What is not a
 * PoolError arrives without its text, which can quote secrets.
 *
 * comlink is not used: its errors lose their code, its calls into a worker that died wait forever, and objects of the worker would be
 * reachable by any path.
 *
 * @module
 */
import { type ErrorDetails, isPoolError, PoolError, peerCode } from '@pool/core';
import type { OnProgress, Progress } from '../wallet-port.ts';

/** A call: what it is given, and what it answers. Both can be cloned. */
export type Call<TInput, TResult> = { readonly input: TInput; readonly result: TResult };
type AnyCalls = { readonly [TName in string]: Call<unknown, unknown> };

type Request = { readonly id: number; readonly name: string; readonly input: unknown };
type Answer =
  | { readonly kind: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | {
      readonly kind: 'error';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly details: ErrorDetails | undefined;
    };

/** What is used of a `Worker`, and of the scope in it. */
export type MessagePlace = {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(
    type: 'message' | 'messageerror' | 'error',
    listener: (event: Event) => void,
  ): void;
};
export type WorkerPlace = MessagePlace & { terminate(): void };

export type CallOptions = {
  readonly onProgress?: OnProgress | undefined;
  /** Buffers that the window gives away: it cannot read them afterwards. */
  readonly transfer?: readonly Transferable[];
};

export type Caller<TCalls> = {
  /**
   * Starts the worker if there is none.
   * @throws PoolError of the call; `stopping` if the worker was ended; `internal_error` if it cannot start, or died
   */
  call<TName extends keyof TCalls & string>(
    name: TName,
    input: TCalls[TName] extends Call<infer TInput, unknown> ? TInput : never,
    options?: CallOptions,
  ): Promise<TCalls[TName] extends Call<unknown, infer TResult> ? TResult : never>;
  /** Ends the worker with all that it holds. Calls that wait fail; the next one starts another worker. */
  end(): void;
};

export function createCaller<TCalls extends { readonly [TName in keyof TCalls]: AnyCalls[string] }>(
  open: () => WorkerPlace,
): Caller<TCalls> {
  type Pending = {
    readonly onProgress: OnProgress | undefined;
    readonly resolve: (result: never) => void;
    readonly reject: (error: PoolError) => void;
  };
  const pending = new Map<number, Pending>();
  let worker: WorkerPlace | undefined;
  let last = 0;

  function stop(error: PoolError): void {
    worker?.terminate();
    worker = undefined;
    const failed = [...pending.values()];
    pending.clear();
    for (const { reject } of failed) reject(error);
  }

  function start(): WorkerPlace {
    const started = open();
    const fail = (): void => {
      if (worker !== started) return;
      stop(
        new PoolError('internal_error', 'the worker of the page cannot start, or died; try again'),
      );
    };
    started.addEventListener('message', (event) => {
      const answer = (event as MessageEvent<Answer>).data;
      const call = pending.get(answer.id);
      if (call === undefined) return;
      if (answer.kind === 'progress') {
        call.onProgress?.(answer.progress);
        return;
      }
      pending.delete(answer.id);
      if (answer.kind === 'result') {
        call.resolve(answer.result as never);
      } else {
        const { code, message, retryable, details } = answer;
        const facts = details === undefined ? {} : { details };
        call.reject(new PoolError(peerCode(code), message, { retryable, ...facts }));
      }
    });
    started.addEventListener('error', fail);
    started.addEventListener('messageerror', fail);
    return started;
  }

  return {
    call: (name, input, { onProgress, transfer = [] } = {}) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        last += 1;
        pending.set(last, { onProgress, resolve, reject });
        worker.postMessage({ id: last, name, input } satisfies Request, [...transfer]);
      }),
    end: () => stop(new PoolError('stopping', 'the account was locked; open it again')),
  };
}

/** What answers the calls. */
export type CallHandlers<TCalls> = {
  readonly [TName in keyof TCalls]: TCalls[TName] extends Call<infer TInput, infer TResult>
    ? (input: TInput, onProgress: OnProgress) => Promise<TResult>
    : never;
};

/** In the worker: answers calls until the worker ends. */
export function serveCalls<TCalls>(scope: MessagePlace, handlers: CallHandlers<TCalls>): void {
  type Handler = (input: unknown, onProgress: OnProgress) => Promise<unknown>;
  const answer = (message: Answer): void => scope.postMessage(message, []);
  scope.addEventListener('message', (event) => {
    const { id, name, input } = (event as MessageEvent<Request>).data;
    const handler = handlers[name as keyof TCalls] as unknown as Handler;
    const onProgress: OnProgress = (progress) => answer({ kind: 'progress', id, progress });
    // What a handler throws before it waits is an answer too.
    const called = Promise.resolve().then(() => handler(input, onProgress));
    called.then(
      (result) => answer({ kind: 'result', id, result }),
      (error: unknown) => answer(describeError(id, error)),
    );
  });
}

function describeError(id: number, error: unknown): Answer {
  if (!isPoolError(error)) {
    const message = 'the wallet failed; try again';
    return {
      ...{ kind: 'error', id, code: 'internal_error', message },
      ...{ retryable: false, details: undefined },
    };
  }
  const { code, message, retryable, details } = error;
  return { kind: 'error', id, code, message, retryable, details };
}
