/**
 * JSON over {@link fetchBounded}. A schema of @pool/api parses the answer. An error answer becomes a `PoolError` with the
 * service's own code.
 *
 * @module
 */
import { cleanMessage, describeIssues, PoolError, peerCode } from '@pool/core';
import * as v from 'valibot';
import {
  type BoundedResponse,
  defaultMaxBytes,
  defaultTimeoutMs,
  type Fetch,
  fetchBounded,
  type Service,
} from './bounded-fetch.ts';

export type JsonCall<TSchema extends v.GenericSchema> = {
  readonly fetch: Fetch;
  readonly service: 'platform' | 'gate';
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly response: TSchema;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
};

export type JsonAnswer<T> = {
  readonly value: T;
  readonly status: number;
  readonly headers: Headers;
};

/**
 * @throws PoolError the service's own code and message (shortened and cleaned) for an error answer, `<service>_unreachable`
 *   (retryable), `<service>_invalid_response`
 */
export async function callJson<TSchema extends v.GenericSchema>(
  call: JsonCall<TSchema>,
): Promise<JsonAnswer<v.InferOutput<TSchema>>> {
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers };
  if (call.body !== undefined) {
    headers['content-type'] = 'application/json';
  }
  const response = await fetchBounded({
    fetch: call.fetch,
    url: call.url,
    service: call.service,
    timeoutMs: call.timeoutMs ?? defaultTimeoutMs,
    maxBytes: call.maxBytes ?? defaultMaxBytes,
    init: {
      method: call.method,
      headers,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    },
  });
  if (response.status < 200 || response.status > 299) {
    throw readServiceError(call.service, response);
  }
  const result = v.safeParse(call.response, parseJson(call.service, response.text));
  if (!result.success) {
    throw invalidResponse(call.service, `malformed: ${describeIssues(result.issues)}`);
  }
  return { value: result.output, status: response.status, headers: response.headers };
}

function parseJson(service: Service, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidResponse(service, 'not JSON', cause);
  }
}

function invalidResponse(service: Service, reason: string, cause?: unknown): PoolError {
  return new PoolError(`${service}_invalid_response`, `the ${service}'s answer is ${reason}`, {
    cause,
  });
}

const errorBodySchema = v.object({
  code: v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)),
  message: v.string(),
});

function readServiceError(service: Service, response: BoundedResponse): PoolError {
  const { status } = response;
  const retryable = status >= 500 || status === 429 || status === 408;
  let body: unknown;
  try {
    body = JSON.parse(response.text);
  } catch {
    body = undefined;
  }
  const parsed = v.safeParse(errorBodySchema, body);
  if (parsed.success) {
    return new PoolError(peerCode(parsed.output.code), cleanMessage(parsed.output.message), {
      status,
      retryable,
    });
  }
  // The error page of a proxy only means that the service behind it did not answer.
  return retryable
    ? new PoolError(`${service}_unreachable`, `the ${service} answered with status ${status}`)
    : invalidResponse(service, `an error with status ${status} and no code`);
}
