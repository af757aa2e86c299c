/**
 * The shell around the routes of every service: request ids, the checks of `Host` and `Origin`, a body limit, errors as
 * `{code, message}`, and one log line per request (SECURITY.md).
 *
 * hono's own middleware is used where it does exactly this: `bodyLimit`. Its `requestId` keeps up to 255 word characters of
 * a caller, which could be a credential, and they would reach the log. Its `secureHeaders` sets headers for pages. Its
 * `csrf` checks form posts only, while the checks here apply to every request.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { type ErrorBody, isPoolError, PoolError } from '@pool/core';
import { traceRequest } from '@pool/tracing';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { createAnswerHeaders, defaultRetryAfterSeconds } from '../answer-headers.ts';
import type { Connection } from '../http-server.ts';
import { describePeer } from '../peer.ts';
import { limitBody } from './body-limit.ts';
import { createNameCheck, type ServedNames } from './served-names.ts';
import type { LogFields, Shell, ShellContext, ShellEnv, ShellLog } from './shell-context.ts';

// Which address a request came from, for limits: the address of the connection, or the one that a trusted proxy saw.

/**
 * @param remote - address of the connection
 * @param forwardedFor - the `X-Forwarded-For` header; each proxy appends the address that it saw
 * @param proxyHops - number of own proxies in front. Only what they appended is trusted: the rest of the header is text
 *   of the caller
 * @returns an IPv4 address, or the /64 network of an IPv6 address, all of which one host controls
 */
export function parseCallerAddress(
  remote: string | undefined,
  forwardedFor: string | undefined,
  proxyHops: number,
): string {
  const seen = (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  const forwarded = proxyHops === 0 ? undefined : seen.at(-proxyHops);
  const address = forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : remote;
  return address === undefined ? 'unknown' : describePeer(address);
}

// Errors as answers: `{code, message}` with the status of the error.

/**
 * A 401 names how to authenticate; 429 and 503 say when to try again.
 *
 * @param challenge - `WWW-Authenticate` of a 401
 */
function answerError(c: ShellContext, error: PoolError, challenge: string): Response {
  const { code, message, status, details } = error;
  const body: ErrorBody = { code, message };
  c.set('answeredCode', code);
  if (status === 401) {
    c.header('www-authenticate', challenge);
  }
  if (status === 429 || status === 503) {
    c.header('retry-after', String(details?.['retryAfterSeconds'] ?? defaultRetryAfterSeconds));
  }
  return c.json(body, status as ContentfulStatusCode);
}

/** Answers any error of a route. For an unexpected error, the answer contains only the request id. */
function answerFailure(
  c: ShellContext,
  error: unknown,
  options: {
    readonly challenge: string;
    readonly describeFailure: (error: unknown) => LogFields;
  },
): Response {
  return answerError(c, describeAsPoolError(c, error, options.describeFailure), options.challenge);
}

function describeAsPoolError(
  c: ShellContext,
  error: unknown,
  describeFailure: (error: unknown) => LogFields,
): PoolError {
  // The caller disconnected while its body was read: nothing failed here, and no one reads the answer.
  if (c.req.raw.signal.aborted) {
    return new PoolError('invalid_request', 'the client aborted the request');
  }
  if (isPoolError(error)) {
    return error;
  }
  c.get('log').error(describeFailure(error), 'request failed');
  return new PoolError('internal_error', `internal error; request ${c.get('requestId')}`);
}

export type ShellOptions = ServedNames & {
  readonly log: ShellLog;
  /** Largest body of any route, bytes. Absent: routes set their own with {@link limitBody}. */
  readonly maxBodyBytes?: number;
  /** Own proxies in front, whose `X-Forwarded-For` counts. Default: none. */
  readonly proxyHops?: number;
  /** Whether an `x-request-id` of the caller is kept if it has the form of an id. Default: every id is new. */
  readonly keepsRequestIds?: boolean;
  /** `WWW-Authenticate` of a 401 whose route sets none. Default: `Bearer realm="pool"`. */
  readonly challenge?: string;
  /** Level of the log line of a request that no error ended. Default: `info`, as of all others. */
  readonly answeredLevel?: 'debug' | 'info';
  /** What the log may say of an unexpected error. Default: the name of its class. */
  readonly describeFailure?: (error: unknown) => LogFields;
};

/** Hexadecimal with dashes, like a UUID or a trace id: no credential has this form. */
const callersIdPattern = /^[0-9a-f-]{16,36}$/i;

/**
 * An application without routes. Routes that are added to it inherit the checks.
 *
 * @example
 * const app = createShell({ log, allowedHosts: ['pay.example'], allowedOrigins: [], maxBodyBytes: 65_536 });
 * app.get('/livez', (c) => c.json({ ok: true }));
 */
export function createShell(options: ShellOptions): Shell {
  const { proxyHops = 0, challenge = 'Bearer realm="pool"', answeredLevel = 'info' } = options;
  const findForeignName = createNameCheck(options);
  const app = new Hono<ShellEnv>();

  app.use(async (c, next) => {
    const startedMs = performance.now();
    const requestId = chooseRequestId(c.req.header('x-request-id'), options.keepsRequestIds);
    // Absent where no server calls, in tests.
    const connection = c.env as Connection | undefined;
    const forwardedFor = c.req.header('x-forwarded-for');
    c.set('requestId', requestId);
    c.set('log', options.log.child({ requestId }));
    c.set('callerAddress', parseCallerAddress(connection?.remoteAddress, forwardedFor, proxyHops));
    for (const [name, value] of Object.entries(createAnswerHeaders(requestId))) {
      c.header(name, value);
    }
    const refusal = findForeignName(c);
    const refused = refusal === undefined ? undefined : answerError(c, refusal, challenge);
    // A refused name reaches no route.
    const routeOf = () => (refusal === undefined ? c.req.routePath : refusal.code);
    await traceRequest(c.req.raw, async () => {
      if (refused === undefined) {
        await next();
      }
      const { status } = refused ?? c.res;
      return { route: routeOf(), status, code: c.get('answeredCode') };
    });
    const code = c.get('answeredCode');
    c.get('log')[code === undefined ? answeredLevel : 'info'](
      {
        method: c.req.method,
        route: routeOf(),
        status: (refused ?? c.res).status,
        ...(code === undefined ? {} : { code }),
        ms: Math.round(performance.now() - startedMs),
      },
      'request',
    );
    return refused;
  });
  if (options.maxBodyBytes !== undefined) {
    app.use(limitBody(options.maxBodyBytes));
  }
  app.notFound((c) =>
    answerError(c, new PoolError('not_found', 'there is no such route'), challenge),
  );
  app.onError((error, c) =>
    answerFailure(c, error, { challenge, describeFailure: options.describeFailure ?? nameOf }),
  );
  return app;
}

function chooseRequestId(given: string | undefined, isKept = false): string {
  return isKept && given !== undefined && callersIdPattern.test(given) ? given : randomUUID();
}

function nameOf(error: unknown): LogFields {
  return { error: error instanceof Error ? error.name : 'unknown' };
}
