/**
 * The adapter's connection to an enclave. After every connect, and before anything else is sent, the enclave is attested; so a process that
 * takes over the socket gets no manifest and no request.
 *
 * @module
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { cleanMessage, PoolError, parseWire } from '@pool/core';
import type * as v from 'valibot';
import { createFrameReader, encodeFrame, maxAnswerBytes, maxRequestBytes } from './frames.ts';
import { answerSchema } from './messages.ts';

/** A call without its id. */
export type CallContent = Readonly<Record<string, unknown>> & { readonly method: string };

/** Sends one call over one connection. */
export type Call = <TSchema extends v.GenericSchema>(
  content: CallContent,
  schema: TSchema,
) => Promise<v.InferOutput<TSchema>>;

export type EnclaveConnectionOptions = {
  readonly socketPath: string;
  /** Longest wait for an answer, milliseconds. */
  readonly timeoutMs: number;
  /** Verifies the enclave over a new connection. It throws if the enclave is not the pinned one. */
  readonly attest: (call: Call) => Promise<void>;
};

export type EnclaveConnection = ReturnType<typeof createEnclaveConnection>;

export function createEnclaveConnection(options: EnclaveConnectionOptions) {
  let current: Promise<Link> | undefined;

  async function open(): Promise<Link> {
    const link = await openLink(options);
    try {
      await options.attest(link.call);
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  function link(): Promise<Link> {
    if (current === undefined) {
      const opening = open();
      current = opening;
      const forget = (): void => {
        current = current === opening ? undefined : current;
      };
      // A failed attempt and a closed connection are forgotten, so the next call connects and attests again.
      opening.then((opened) => opened.closed.then(forget, forget), forget);
    }
    return current;
  }

  return {
    /**
     * Connects and attests if needed, and calls. A connection that is lost in the middle is made once more: the enclave signs the same
     * again.
     * @throws PoolError `enclave_unreachable`, `enclave_failed`, `enclave_not_attested`; the signal's reason
     */
    async call<TSchema extends v.GenericSchema>(
      content: CallContent,
      schema: TSchema,
      signal?: AbortSignal,
    ): Promise<v.InferOutput<TSchema>> {
      signal?.throwIfAborted();
      const used = link();
      try {
        return await abortable((await abortable(used, signal)).call(content, schema), signal);
      } catch (error) {
        if (!(error instanceof LostConnectionError)) {
          throw error;
        }
        // Another call that lost the same connection may have made the next one already.
        current = current === used ? undefined : current;
        return abortable((await abortable(link(), signal)).call(content, schema), signal);
      }
    },
    /** Ends the connection. A later call makes another one. */
    close(): void {
      const closing = current;
      current = undefined;
      closing?.then(
        (opened) => opened.close(),
        () => undefined,
      );
    },
  };
}

type Link = Awaited<ReturnType<typeof openLink>>;

/** The connection ended while an answer was awaited. */
class LostConnectionError extends PoolError {
  constructor(socketPath: string) {
    super(
      'enclave_unreachable',
      `the enclave at ${socketPath} closed the connection before it answered; it may have crashed`,
      { retryable: true },
    );
  }
}

async function openLink({ socketPath, timeoutMs }: EnclaveConnectionOptions) {
  const socket = await openSocket(socketPath, timeoutMs);
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const read = createFrameReader(maxAnswerBytes);
  let nextId = 1;

  function end(error: PoolError): void {
    socket.destroy();
    const waiting = [...pending.values()];
    pending.clear();
    for (const { reject } of waiting) {
      reject(error);
    }
  }

  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      end(new LostConnectionError(socketPath));
      resolve();
    });
  });
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    try {
      for (const value of read(chunk)) {
        const answer = parseWire(answerSchema, value, 'answer of the enclave');
        const call = pending.get(answer.id);
        pending.delete(answer.id);
        if ('error' in answer) {
          const reason = cleanMessage(answer.error);
          call?.reject(new PoolError('enclave_failed', `the enclave failed: ${reason}`));
        } else {
          call?.resolve(answer.result);
        }
      }
    } catch {
      end(createInvalidResponse(socketPath));
    }
  });

  return {
    /** Settles when the connection has ended. */
    closed,
    close: () => socket.destroy(),
    call: async <TSchema extends v.GenericSchema>(content: CallContent, schema: TSchema) => {
      const id = nextId;
      nextId += 1;
      const frame = encodeFrame({ id, ...content });
      if (frame.length > maxRequestBytes) {
        throw new PoolError(
          'payload_too_large',
          'the request with its manifest file is too large for the enclave',
        );
      }
      // A command must be able to end while nothing is asked.
      socket.ref();
      const answer = Promise.withResolvers<unknown>();
      pending.set(id, answer);
      const timer = setTimeout(() => end(createTimeout(socketPath, timeoutMs)), timeoutMs);
      if (socket.destroyed) {
        end(new LostConnectionError(socketPath));
      } else {
        socket.write(frame);
      }
      const result = await answer.promise.finally(() => {
        clearTimeout(timer);
        if (pending.size === 0) {
          socket.unref();
        }
      });
      try {
        return parseWire(schema, result, 'answer of the enclave');
      } catch {
        throw createInvalidResponse(socketPath);
      }
    },
  };
}

async function openSocket(socketPath: string, timeoutMs: number): Promise<Socket> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    return socket;
  } catch {
    socket.destroy();
    throw new PoolError(
      'enclave_unreachable',
      `no enclave answers at ${socketPath}; start it with "pool-enclave serve", and check that this user may open the socket`,
      { retryable: true },
    );
  }
}

/** The promise, or the signal's reason as soon as it is aborted. The call itself goes on at the enclave. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return promise;
  }
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function createTimeout(socketPath: string, timeoutMs: number): PoolError {
  return new PoolError(
    'enclave_unreachable',
    `the enclave at ${socketPath} did not answer within ${timeoutMs} ms`,
    { retryable: true },
  );
}

function createInvalidResponse(socketPath: string): PoolError {
  return new PoolError(
    'enclave_failed',
    `the answer of the process at ${socketPath} does not fit this version; check that it is the enclave`,
  );
}
