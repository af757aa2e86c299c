/**
 * JSON over {@link fetchBounded}. The route's own schema parses the answer. An error answer becomes a `PoolError` with the
 * service's own code.
 *
 * @module
 */
import type { Route } from '@pool/api';
import { cleanMessage, describeIssues, PoolError, peerCode } from '@pool/core';
import {
  type BoundedAnswer,
  type Fetch,
  fetchBounded,
  readJson,
  type Service,
} from '@pool/http-client';
import * as v from 'valibot';

export type JsonCall<R extends Route> = {
  readonly fetch: Fetch;
  readonly service: 'platform' | 'gate';
  readonly route: R;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly timeoutMs?: number | undefined;
};

/** Largest answer that is read: enough for a page of notes and for a look-up of 256 recipients. */
export const maxBytes = 4 * 1024 * 1024;

/** The body of a success: each route here has one schema for all of them. */
export type RouteValue<R extends Route> = v.InferOutput<
  R['answers'][keyof R['answers'] & number]['schema']
>;

export type JsonAnswer<T> = {
  readonly value: T;
  readonly status: number;
  readonly headers: Headers;
};

/**
 * @throws PoolError the service's own code and message (shortened and cleaned) for an error answer, `<service>_unreachable`
 *   (retryable), `<service>_invalid_response`
 */
export async function callJson<R extends Route>(
  call: JsonCall<R>,
): Promise<JsonAnswer<RouteValue<R>>> {
  const { fetch, url, service, route, timeoutMs, body } = call;
  const { method } = route;
  const headers = {
    accept: 'application/json',
    ...call.headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetchBounded({ fetch, url, service, timeoutMs, maxBytes, init }, readJson);
  if (response.status < 200 || response.status > 299) {
    throw readServiceError(call.service, response);
  }
  if (response.body === undefined) {
    throw invalidResponse(call.service, 'not JSON');
  }
  const [success] = Object.values(route.answers);
  const result = v.safeParse(success?.schema ?? v.never(), response.body);
  if (!result.success) {
    throw invalidResponse(call.service, `malformed: ${describeIssues(result.issues)}`);
  }
  return {
    value: result.output as RouteValue<R>,
    status: response.status,
    headers: response.headers,
  };
}

function invalidResponse(service: Service, reason: string): PoolError {
  return new PoolError(`${service}_invalid_response`, `the ${service}'s answer is ${reason}`);
}

const errorBodySchema = v.object({
  code: v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)),
  message: v.string(),
});

function readServiceError(service: Service, { status, body }: BoundedAnswer<unknown>): PoolError {
  const retryable = status >= 500 || status === 429 || status === 408;
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

/** The route's path with the values of its `{name}` parts. */
export function fillPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replace(/\{([A-Za-z]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
}
