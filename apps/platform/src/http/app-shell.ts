/**
 * What every route of the platform and of the gate stands in: request ids, `Host` and `Origin` checks,
 * body limits, and errors as `{code, message}` (SECURITY.md).
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type ErrorBody, isPoolError, PoolError } from '@pool/core';
import { type Connection, createAnswerHeaders, defaultRetryAfterSeconds } from '@pool/http-server';
import { isLoopbackHost } from '@pool/platform-client';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { describeFailure, type Log } from '../log.ts';
import { parseCallerAddress } from './caller-address.ts';

export type ShellEnv = {
  Bindings: Connection;
  Variables: {
    requestId: string;
    /** Writes the request's id into every line, and the job's trace id once it is known. */
    log: Log;
    /** Address or network the request came from, for limits. */
    callerAddress: string;
  };
};
export type Shell = Hono<ShellEnv>;
export type ShellContext = Context<ShellEnv>;

export type ShellOptions = {
  readonly log: Log;
  /** Values of `Host` (with port) that are served besides loopback names. */
  readonly allowedHosts: readonly string[];
  /** Origins a browser may call from; requests without `Origin` come from no browser page. */
  readonly allowedOrigins: readonly string[];
  /** Largest request body. */
  readonly maxBodyBytes: number;
  /** Proxies of our own in front, whose `X-Forwarded-For` counts. Default: none. */
  readonly proxyHops?: number;
};

/** An application without routes; add them, they inherit the checks. */
export function createShell(options: ShellOptions): Shell {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins);
  const app = new Hono<ShellEnv>();

  app.use(async (c, next) => {
    const requestId = randomUUID();
    const log = options.log.child({ requestId });
    // Bindings are there when a server calls, and only then.
    const connection = c.env as Connection | undefined;
    c.set('requestId', requestId);
    c.set('log', log);
    c.set(
      'callerAddress',
      parseCallerAddress(
        connection?.remoteAddress,
        c.req.header('x-forwarded-for'),
        options.proxyHops ?? 0,
      ),
    );
    for (const [name, value] of Object.entries(createAnswerHeaders(requestId))) {
      c.header(name, value);
    }
    const startedMs = performance.now();
    const refusal = findRefusal(c, hosts, origins);
    const refused = refusal === undefined ? undefined : answerError(c, refusal);
    if (refused === undefined) {
      await next();
    }
    // A handler that learned which job it is about has set a log that says so.
    c.get('log').info(
      {
        method: c.req.method,
        route: refusal === undefined ? c.req.routePath : refusal.code,
        status: (refused ?? c.res).status,
        ms: Math.round(performance.now() - startedMs),
      },
      'request',
    );
    return refused;
  });
  app.use(
    bodyLimit({
      maxSize: options.maxBodyBytes,
      onError: (c) =>
        answerError(
          c,
          new PoolError(
            'payload_too_large',
            `a request body may have ${options.maxBodyBytes} bytes`,
            { status: 413 },
          ),
        ),
    }),
  );
  app.notFound((c) =>
    answerError(c, new PoolError('not_found', 'there is no such route', { status: 404 })),
  );
  app.onError((error, c) => {
    // The caller went away while the body was read: nobody hears the answer, and nothing of ours failed.
    if (c.req.raw.signal.aborted) {
      return answerError(c, new PoolError('invalid_request', 'the request was broken off'));
    }
    if (isPoolError(error)) {
      return answerError(c, error);
    }
    c.get('log').error({ ...describeFailure(error) }, 'request failed');
    return answerError(
      c,
      new PoolError('internal_error', `internal error; request ${c.get('requestId')}`, {
        status: 500,
      }),
    );
  });
  return app;
}

function findRefusal(
  c: Context,
  hosts: ReadonlySet<string>,
  origins: ReadonlySet<string>,
): PoolError | undefined {
  // A page that rebinds its name to this machine still sends its own name: that is what stops it.
  // The server asks for a Host header; without a server (in tests) it stands in the URL.
  const host = (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase();
  if (!isLoopbackHost(withoutPort(host)) && !hosts.has(host)) {
    return new PoolError('forbidden_host', 'this host name is not served here', { status: 403 });
  }
  const origin = c.req.header('origin');
  if (origin !== undefined && !origins.has(origin)) {
    return new PoolError('forbidden_origin', 'calls from this origin are not accepted', {
      status: 403,
    });
  }
  return undefined;
}

function withoutPort(host: string): string {
  return host.replace(/:[0-9]{1,5}$/, '');
}

/** `{code, message}` with the error's status; a 401 names how to authenticate, 429 and 503 when to come back. */
function answerError(
  c: Context,
  error: Pick<PoolError, 'code' | 'message' | 'status' | 'details'>,
): Response {
  const body: ErrorBody = { code: error.code, message: error.message };
  if (error.status === 401) {
    c.header('www-authenticate', 'Bearer realm="pool"');
  }
  if (error.status === 429 || error.status === 503) {
    const seconds = error.details?.['retryAfterSeconds'] ?? defaultRetryAfterSeconds;
    c.header('retry-after', String(seconds));
  }
  return c.json(body, error.status as ContentfulStatusCode);
}
