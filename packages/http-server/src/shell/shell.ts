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
import { PoolError } from '@pool/core';
import { Hono } from 'hono';
import { createAnswerHeaders } from '../answer-headers.ts';
import type { Connection } from '../http-server.ts';
import { answerError, answerFailure } from './answer-error.ts';
import { limitBody } from './body-limit.ts';
import { parseCallerAddress } from './caller-address.ts';
import { createNameCheck, type ServedNames } from './served-names.ts';
import type { LogFields, Shell, ShellEnv, ShellLog } from './shell-context.ts';

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
    if (refused === undefined) {
      await next();
    }
    const code = c.get('answeredCode');
    c.get('log')[code === undefined ? answeredLevel : 'info'](
      {
        method: c.req.method,
        // A refused name reaches no route.
        route: refusal === undefined ? c.req.routePath : refusal.code,
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
