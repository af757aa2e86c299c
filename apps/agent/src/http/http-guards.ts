/**
 * What every request passes before a route sees it: a request id, the Host allow-list and the Origin check
 * (against DNS rebinding and pages in the operator's own browser), and a body limit.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { isPoolError, PoolError } from '@pool/core';
import { createAnswerHeaders, defaultRetryAfterSeconds, readHostName } from '@pool/http-server';
import { isLoopbackHost } from '@pool/platform-client';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AgentLog } from '../services/agent-log.ts';
import type { Principal } from './bearer.ts';

/** Holds 10,000 recipients with memos. */
const maxBodyBytes = 4 * 1024 * 1024;

export type AgentVariables = {
  Variables: {
    requestId: string;
    /** Of the job that the request is about, once that is known. */
    trace: string | undefined;
    principal: Principal;
  };
};

/** Hexadecimal with dashes, like a UUID or a trace id: no credential of ours has that form. */
const callersIdPattern = /^[0-9a-f-]{16,36}$/i;

/** The caller's own `x-request-id` if it has the form of one, else a new one; in the answer and in every line. */
export function assignRequestId(log: AgentLog): MiddlewareHandler<AgentVariables> {
  return async (context, next) => {
    const given = context.req.header('x-request-id');
    const requestId = given !== undefined && callersIdPattern.test(given) ? given : randomUUID();
    context.set('requestId', requestId);
    for (const [name, value] of Object.entries(createAnswerHeaders(requestId))) {
      context.header(name, value);
    }
    await next();
    const trace = context.get('trace');
    log.debug(
      { requestId, trace, method: context.req.method, status: context.res.status },
      'answered',
    );
  };
}

/** @param allowedHosts - names besides loopback that requests may be addressed to; IPv6 with or without brackets */
export function checkHost(allowedHosts: readonly string[]): MiddlewareHandler<AgentVariables> {
  const allowedNames = new Set(
    allowedHosts.map((host) =>
      readHostName(host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host),
    ),
  );
  const isAllowed = (host: string | undefined): boolean => {
    const name = readHostName(host);
    return name !== undefined && (isLoopbackHost(name) || allowedNames.has(name));
  };
  return async (context, next) => {
    const origin = context.req.header('origin');
    const isForeign = origin !== undefined && !isAllowed(originHost(origin));
    if (!isAllowed(context.req.header('host')) || isForeign) {
      throw new PoolError(
        'forbidden_host',
        'this agent does not answer to that Host or Origin; list it in DISBURSE_ALLOWED_HOSTS if it should',
        { status: 403 },
      );
    }
    await next();
  };
}

const tooLarge = 'the request body is larger than 4 MiB';

/** @param answer - instead of the refusal with 413 */
export function limitBody(
  answer?: (context: Context, message: string) => Response,
): MiddlewareHandler<AgentVariables> {
  return bodyLimit({
    maxSize: maxBodyBytes,
    onError: (context) => {
      if (answer !== undefined) {
        return answer(context, tooLarge);
      }
      throw new PoolError('payload_too_large', tooLarge, { status: 413 });
    },
  });
}

/** `{code, message}` for every failure; what is not ours says nothing about itself. */
export function answerError(
  error: unknown,
  context: Context<AgentVariables>,
  log: AgentLog,
): Response {
  const requestId = context.get('requestId');
  const trace = context.get('trace');
  // The caller went away while the body was read: nobody hears the answer, and nothing of ours failed.
  if (context.req.raw.signal.aborted) {
    log.debug({ requestId, trace }, 'request broken off');
    return context.json({ code: 'invalid_request', message: 'the request was broken off' }, 400);
  }
  if (!isPoolError(error)) {
    log.error(
      { requestId, trace, error: error instanceof Error ? error.name : 'unknown' },
      'route failed',
    );
    return context.json(
      { code: 'internal_error', message: 'an unexpected error; see the log of the agent' },
      500,
    );
  }
  if (error.status === 401) {
    context.header('www-authenticate', 'Bearer');
  }
  if (error.status === 503) {
    context.header('retry-after', String(defaultRetryAfterSeconds));
  }
  const retryAfterSeconds = error.details?.['retryAfterSeconds'];
  if (error.status === 429 && typeof retryAfterSeconds === 'number') {
    context.header('retry-after', String(retryAfterSeconds));
  }
  log.info({ requestId, trace, code: error.code, status: error.status }, 'request refused');
  return context.json(
    { code: error.code, message: error.message },
    error.status as ContentfulStatusCode,
  );
}

function originHost(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
