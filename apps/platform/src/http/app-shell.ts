/**
 * What every route of the platform and of the gate stands in: request ids, `Host` and `Origin` checks,
 * body limits, and errors as `{code, message}` (SECURITY.md).
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type ErrorBody, isPoolError, PoolError } from '@pool/core';
import { isLoopbackHost } from '@pool/platform-client';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { describeFailure, type Log } from '../log.ts';

export type ShellEnv = { Variables: { requestId: string } };
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
};

/** An application without routes; add them, they inherit the checks. */
export function createShell(options: ShellOptions): Shell {
  const { log } = options;
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins);
  const app = new Hono<ShellEnv>();

  app.use(async (c, next) => {
    const requestId = randomUUID();
    c.set('requestId', requestId);
    c.header('x-request-id', requestId);
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
    // A page that rebinds its name to this machine still sends its own name: that is what stops it.
    const host = (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase();
    if (!isLoopbackHost(withoutPort(host)) && !hosts.has(host)) {
      return answerError(
        c,
        new PoolError('forbidden_host', 'this host name is not served here', { status: 403 }),
      );
    }
    const origin = c.req.header('origin');
    if (origin !== undefined && !origins.has(origin)) {
      return answerError(
        c,
        new PoolError('forbidden_origin', 'calls from this origin are not accepted', {
          status: 403,
        }),
      );
    }
    const startedMs = performance.now();
    await next();
    log.info(
      {
        requestId,
        method: c.req.method,
        route: c.req.routePath,
        status: c.res.status,
        ms: Math.round(performance.now() - startedMs),
      },
      'request',
    );
    return undefined;
  });
  app.use(
    bodyLimit({
      maxSize: options.maxBodyBytes,
      onError: (c) =>
        answerError(
          c,
          new PoolError(
            'request_too_large',
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
    if (isPoolError(error)) {
      return answerError(c, error);
    }
    const requestId = c.get('requestId');
    log.error({ requestId, ...describeFailure(error) }, 'request failed');
    return answerError(
      c,
      new PoolError('internal', `internal error; request ${requestId}`, { status: 500 }),
    );
  });
  return app;
}

function withoutPort(host: string): string {
  return host.replace(/:[0-9]{1,5}$/, '');
}

// Nobody knows better: what is busy or down now is worth another try shortly.
const retryAfterSeconds = '5';

/** `{code, message}` with the error's status; a 401 names how to authenticate, a 503 when to come back. */
function answerError(
  c: Context,
  error: { code: string; message: string; status: number },
): Response {
  const body: ErrorBody = { code: error.code, message: error.message };
  if (error.status === 401) {
    c.header('www-authenticate', 'Bearer realm="pool"');
  }
  if (error.status === 429 || error.status === 503) {
    c.header('retry-after', retryAfterSeconds);
  }
  return c.json(body, error.status as ContentfulStatusCode);
}
