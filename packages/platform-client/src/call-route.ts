/**
 * One typed call for every described route: inputs and answers have the types of the route's schemas. An answer that the
 * description does not contain is an error, never a value.
 *
 * @module
 */
import type { Route, RouteAnswer, RouteInput } from '@pool/api';
import { joinUrl, PoolError, parseServiceUrl, type Secret } from '@pool/core';
import { type Fetch, fetchBounded, readText, type Service } from '@pool/http-client';
import * as v from 'valibot';
import { fillPath, maxBytes } from './json-call.ts';

export type RouteCallerOptions = {
  /** Base URL of the service. The routes' paths are appended. */
  readonly url: string;
  readonly service: Service;
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: Secret;
  /** The `sessionId` cookie. */
  readonly session?: Secret;
  readonly fetch?: Fetch;
  readonly timeoutMs?: number;
};

/**
 * Resolves with any documented answer, including refusals.
 * @throws PoolError `<service>_unreachable` (retryable), `<service>_invalid_response`
 */
export type RouteCaller = <R extends Route>(
  route: R,
  input: RouteInput<R>,
) => Promise<RouteAnswer<R>>;

type LooseInput = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

export function createRouteCaller(options: RouteCallerOptions): RouteCaller {
  const base = parseServiceUrl(options.url, `the url of the ${options.service}`);

  return async <R extends Route>(route: R, input: RouteInput<R>): Promise<RouteAnswer<R>> => {
    const given = input as LooseInput;
    const request = {
      fetch: options.fetch,
      url: joinUrl(base, fillPath(route.path, given.params), definedOf(given.query)),
      service: options.service,
      timeoutMs: options.timeoutMs,
      maxBytes,
      init: {
        method: route.method,
        headers: {
          ...given.headers,
          ...(options.bearer === undefined
            ? {}
            : { authorization: `Bearer ${options.bearer.reveal()}` }),
          ...(options.session === undefined
            ? {}
            : { cookie: `sessionId=${options.session.reveal()}` }),
          ...(given.body === undefined ? {} : { 'content-type': bodyTypeOf(route) }),
        },
        ...(given.body === undefined ? {} : { body: encodeBody(route, given.body) }),
      },
    };
    const response = await fetchBounded(request, readText);
    const body = parseAnswer(route, response.status, response.body);
    if (body === undefined) {
      throw new PoolError(
        `${options.service}_invalid_response`,
        `the ${options.service} answered with status ${response.status}, which the route's description does not list, or with another content type`,
      );
    }
    return { status: response.status, body: body.value } as RouteAnswer<R>;
  };
}

/** Undefined if the route has no such answer. */
function parseAnswer(route: Route, status: number, text: string): { value: unknown } | undefined {
  const answer = route.answers[status];
  const codes = route.errors[status];
  const schema =
    answer?.schema ??
    (codes === undefined
      ? undefined
      : v.strictObject({ code: v.picklist(codes), message: v.string() }));
  if (schema === undefined) {
    return undefined;
  }
  const isJson = (answer?.contentType ?? 'application/json') === 'application/json';
  const parsed = v.safeParse(schema, isJson ? parseJson(text) : text);
  return parsed.success ? { value: parsed.output } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function definedOf(query: LooseInput['query']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

function bodyTypeOf(route: Route): string {
  return route.bodyType ?? 'application/json';
}

function encodeBody(route: Route, body: unknown): string {
  return bodyTypeOf(route) === 'application/json'
    ? JSON.stringify(body)
    : new URLSearchParams(body as Record<string, string>).toString();
}
