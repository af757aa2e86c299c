/**
 * One bounded outbound request: a time limit for the whole exchange, no redirects, and a maximum size of the answer (SECURITY.md,
 * "Network").
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** The services that are called. Their failures have the codes `<service>_unreachable` and `<service>_invalid_response`. */
export type Service = 'platform' | 'gate' | 'agent' | 'custodian' | 'approver' | 'webhook';

/** The part of `fetch` that the clients need. Tests pass an app's own handler. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export type BoundedRequest = {
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  readonly url: URL;
  readonly init: RequestInit;
  /** Names the service in codes and messages, for example `<service>_unreachable`. */
  readonly service: Service;
  /** Time limit of the exchange, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly maxBytes: number;
  /** Ends the exchange; the call then throws the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
};

export type BoundedAnswer<T> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
};

/** The page of a proxy during maintenance, for which a job at a custodian waits. Elsewhere a redirect is a wrong address. */
const redirectCodes = {
  platform: 'platform_invalid_response',
  gate: 'gate_invalid_response',
  agent: 'agent_invalid_response',
  custodian: 'custodian_unreachable',
  approver: 'approver_unreachable',
  webhook: 'webhook_invalid_response',
} as const;

/** Calls `send` once, with further headers for the service. */
export type RequestObserver = <T extends { readonly status: number }>(
  service: Service,
  method: string,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>;

let observe: RequestObserver | undefined;

/** From now on, every request of this process goes through `observer`, for traces. @param observer - undefined: none */
export function observeRequests(observer: RequestObserver | undefined): void {
  observe = observer;
}

/**
 * @param read - reads the body, for example {@link readText}
 * @throws PoolError `<service>_unreachable` (retryable) if no answer arrives in time, `<service>_invalid_response` for an answer that is
 *   too large. A redirect is one of the two
 */
export async function fetchBounded<T>(
  request: BoundedRequest,
  read: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<BoundedAnswer<T>> {
  if (observe === undefined) {
    return await exchange(request, read);
  }
  return await observe(request.service, request.init.method ?? 'GET', (added) => {
    const headers = new Headers(request.init.headers);
    for (const [name, value] of Object.entries(added)) {
      headers.set(name, value);
    }
    return exchange({ ...request, init: { ...request.init, headers } }, read);
  });
}

async function exchange<T>(
  request: BoundedRequest,
  read: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<BoundedAnswer<T>> {
  const { service, maxBytes, timeoutMs = 30_000, fetch: send = fetch, signal } = request;
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(request.url.href, {
      ...request.init,
      redirect: 'manual',
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    });
    const { status, headers } = response;
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      throw new PoolError(
        redirectCodes[service],
        `the ${service} answered with a redirect; configure its final address`,
      );
    }
    return { status, headers, body: await read(readChunks(response, service, maxBytes)) };
  } catch (cause) {
    if (cause instanceof PoolError) {
      throw cause;
    }
    signal?.throwIfAborted();
    throw new PoolError(
      `${service}_unreachable`,
      deadline.aborted
        ? `the ${service} did not answer within ${timeoutMs} ms`
        : `the ${service} could not be reached`,
      { cause },
    );
  }
}

async function* readChunks(
  { body }: Response,
  service: Service,
  most: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  if (body !== null) {
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength;
      if (size > most) {
        throw createTooLarge(service, most);
      }
      yield chunk;
    }
  }
}

export function createTooLarge(service: Service, most: number): PoolError {
  return new PoolError(
    `${service}_invalid_response`,
    `the ${service} answered with more than ${most} bytes`,
  );
}

export async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** @returns the parsed JSON; undefined for an empty answer or one that is not JSON */
export async function readJson(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const text = await readText(chunks);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
