/**
 * One bounded outbound request: a time limit for the whole exchange, no redirects, and a maximum size of the answer (SECURITY.md,
 * "Network").
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** The services that are called. Their failures have the codes `<service>_unreachable` and `<service>_invalid_response`. */
export type Service = 'platform' | 'gate' | 'agent';

/** The part of `fetch` that the clients need. Tests pass an app's own handler. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Default time limit of one exchange, in milliseconds. */
export const defaultTimeoutMs = 30_000;

/** Largest answer that is read by default. 4 MiB is enough for a page of notes and for a look-up of 256 recipients. */
export const defaultMaxBytes = 4 * 1024 * 1024;

export type BoundedRequest = {
  readonly fetch: Fetch;
  readonly url: URL;
  readonly init: RequestInit;
  /** Names the service in codes and messages, for example `<service>_unreachable`. */
  readonly service: Service;
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

export type BoundedResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/**
 * @throws PoolError `<service>_unreachable` (retryable) if no answer arrives in time, `<service>_invalid_response` for a redirect
 *   or an answer that is too large
 */
export async function fetchBounded(request: BoundedRequest): Promise<BoundedResponse> {
  const { service, maxBytes, timeoutMs } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request.fetch(request.url.href, {
      ...request.init,
      redirect: 'manual',
      signal,
    });
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      throw new PoolError(
        `${service}_invalid_response`,
        `the ${service} answered with a redirect; configure its final address`,
      );
    }
    return {
      status: response.status,
      headers: response.headers,
      text: await readBounded(response, maxBytes, service),
    };
  } catch (cause) {
    if (cause instanceof PoolError) {
      throw cause;
    }
    throw new PoolError(
      `${service}_unreachable`,
      signal.aborted
        ? `the ${service} did not answer within ${timeoutMs} ms`
        : `the ${service} could not be reached`,
      { cause },
    );
  }
}

async function readBounded(
  response: Response,
  maxBytes: number,
  service: Service,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) {
        throw new PoolError(
          `${service}_invalid_response`,
          `the ${service} answered with more than ${maxBytes} bytes`,
        );
      }
      chunks.push(chunk);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
