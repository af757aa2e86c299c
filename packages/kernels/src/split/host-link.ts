/**
 * A worker with kernels of its own, seen from the page.
 *
 * @module
 */
import type { Transferable } from 'node:worker_threads';
import { errorOf, KernelsError } from '../runtime/errors.ts';
import { moduleBeside } from '../runtime/module-beside.ts';
import type { TaskOptions } from '../runtime/runtime.ts';
import { startThread, type WebWorkerConstructor } from '../runtime/thread-port.ts';
import type {
  Bytes,
  HostAnswer,
  HostCall,
  HostMessage,
  HostResults,
  HostStart,
} from './messages.ts';

declare const Worker: WebWorkerConstructor;

export type CallOptions = TaskOptions & {
  /** Reads what the worker asks for, into `into`. Its error is the call's error. */
  readonly read?: ((start: number, count: number, into: Bytes) => Promise<void>) | undefined;
};

export type HostLink = {
  /** Resolves when the worker takes calls. Rejects if it cannot start. */
  readonly ready: Promise<void>;
  /**
   * Calls run one at a time, in their order. Settles only when the worker does not work on the call any more.
   * @param transfer - buffers that the worker takes over
   * @throws the signal's reason; KernelsError
   */
  readonly call: <Op extends HostCall['op']>(
    call: HostCall & { readonly op: Op },
    options?: CallOptions,
    transfer?: readonly Transferable[],
  ) => Promise<HostResults[Op]>;
  /** Wipes the worker's memory and ends it. Running calls fail with `kernels_closed`. */
  readonly close: () => Promise<void>;
};

type Call = CallOptions & {
  readonly settle: (failure: Error | undefined, result?: unknown) => void;
  /** Why it fails, if the page knows better than the worker. */
  failure?: Error;
};

/** @param onLost - the worker ended by itself, with all that it held */
export function openHostLink(start: HostStart, onLost: () => void): HostLink {
  const calls = new Map<number, Call>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  const closed = Promise.withResolvers<void>();
  let lastId = 0;
  let ended: Error | undefined;

  const send = (message: HostMessage, transfer: readonly Transferable[] = []): void => {
    thread.post(message, transfer);
  };
  const fail = (id: number, call: Call, reason: unknown): void => {
    call.failure ??= errorOf(reason);
    send({ type: 'abort', id });
  };
  const serveRead = async (
    { id, start: first, count, bytes: length }: Extract<HostAnswer, { type: 'read' }>,
    call: Call,
  ): Promise<void> => {
    const bytes = new Uint8Array(length);
    try {
      await call.read?.(first, count, bytes);
      send({ type: 'bytes', id, bytes }, [bytes.buffer]);
    } catch (error) {
      call.failure ??= errorOf(error);
      send({ type: 'bytes', id, bytes: undefined });
    }
  };
  const onAnswer = (answer: HostAnswer): void => {
    if (answer.type === 'ready') {
      ready.resolve();
      return;
    }
    if (answer.type === 'unable') {
      ready.reject(new KernelsError('start_failed', answer.message));
      return;
    }
    if (answer.type === 'closed') {
      closed.resolve();
      return;
    }
    const call = calls.get(answer.id);
    if (call === undefined) return;
    switch (answer.type) {
      case 'done':
        // A quotient that nobody takes any more is secret.
        if (call.failure !== undefined && answer.result instanceof Uint8Array)
          answer.result.fill(0);
        call.settle(call.failure, answer.result);
        break;
      case 'failed': {
        const { code, message, retryable } = answer;
        call.settle(call.failure ?? new KernelsError(code, message, { retryable }));
        break;
      }
      case 'progress':
        try {
          call.onProgress?.(answer.fraction);
        } catch (error) {
          fail(answer.id, call, error);
        }
        break;
      case 'read':
        void serveRead(answer, call);
    }
  };
  const program = {
    file: moduleBeside(import.meta.url, 'split-worker'),
    open: () => new Worker(new URL('./split-worker.js', import.meta.url), { type: 'module' }),
  };
  const thread = startThread(program, {
    onMessage: (message) => {
      onAnswer(message as HostAnswer);
    },
    onEnd: (cause) => {
      const isMissing = cause instanceof KernelsError;
      const died = new KernelsError(
        'thread_died',
        'a worker of the kernels ended unexpectedly, with the keys in its memory; create new kernels',
        { retryable: true, cause },
      );
      const wasOpen = ended === undefined;
      ended ??= isMissing ? cause : died;
      closed.resolve();
      ready.reject(ended);
      for (const call of [...calls.values()]) call.settle(ended);
      if (wasOpen) onLost();
    },
  });
  thread.post(start);
  thread.setWorking(false);

  return {
    ready: ready.promise,
    call: (request, options = {}, transfer = []) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        if (signal?.aborted) throw errorOf(signal.reason);
        if (ended !== undefined) throw ended;
        lastId += 1;
        const id = lastId;
        const abort = (): void => {
          fail(id, call, signal?.reason);
        };
        const call: Call = {
          ...options,
          settle: (failure, result) => {
            signal?.removeEventListener('abort', abort);
            calls.delete(id);
            thread.setWorking(calls.size > 0);
            if (failure === undefined) resolve(result as never);
            else reject(failure);
          },
        };
        signal?.addEventListener('abort', abort, { once: true });
        calls.set(id, call);
        thread.setWorking(true);
        send({ type: 'call', id, call: request }, transfer);
      }),
    close: async () => {
      if (ended === undefined) {
        ended = new KernelsError('kernels_closed', 'the kernels are closed');
        for (const call of calls.values()) call.failure ??= ended;
        thread.setWorking(true);
        send({ type: 'close' });
        await closed.promise;
      }
      await thread.end();
    },
  };
}
