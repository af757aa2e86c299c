/**
 * What every request of the console must fulfil, and the policy of every answer (docs/decisions/0023).
 *
 * @module
 */
import { isSameSecret } from '@pool/configuration';
import { isLoopbackHost, PoolError } from '@pool/core';
import type { MiddlewareHandler } from 'hono';
import type { ConsoleContext, ConsoleEnv } from './ports.ts';
import type { Session } from './sessions.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Under no-referrer a browser sends a form with the origin null.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/**
 * Serves this machine only, whatever the agent serves besides: its address, and its names against DNS rebinding.
 * @returns a handler that throws PoolError `forbidden_host`
 */
export function requireLoopback(): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    for (const [name, value] of Object.entries(headers)) {
      c.header(name, value);
    }
    const { remoteAddress = '' } = c.env ?? {};
    if (!isLoopbackHost(remoteAddress.replace(/^::ffff:/, '')) || !isLoopbackHost(nameOf(c))) {
      throw new PoolError(
        'forbidden_host',
        'the console is served on the machine of the agent only',
      );
    }
    await next();
  };
}

/** Without a port. Without a server, in tests, the host is in the URL. */
function nameOf(c: ConsoleContext): string {
  const url = `http://${c.req.header('host') ?? new URL(c.req.url).host}`;
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/**
 * A page of another origin may neither open nor load a page of the session: another port of this machine is of the same site.
 * @throws PoolError `forbidden_origin`
 */
export function assertOwnFetch(c: ConsoleContext): void {
  const site = c.req.header('sec-fetch-site') ?? 'none';
  if (site !== 'none' && site !== 'same-origin') {
    throw new PoolError('forbidden_origin', 'another page has opened this page; open it yourself');
  }
}

/** A form of the console's own pages. @throws PoolError `forbidden_origin` */
export function assertOwnForm(c: ConsoleContext): void {
  const site = c.req.header('sec-fetch-site') ?? 'same-origin';
  const own = `http://${c.req.header('host') ?? new URL(c.req.url).host}`;
  if (site !== 'same-origin' || c.req.header('origin') !== own) {
    throw new PoolError('forbidden_origin', 'only a page of the console can send this form');
  }
}

/** @param sent - the token in the form. @throws PoolError `forbidden_origin` */
export function assertFormToken(session: Session, sent: unknown): void {
  if (typeof sent !== 'string' || !isSameSecret(session.formToken, sent)) {
    throw new PoolError(
      'forbidden_origin',
      'the form is not of this session; load its page again and repeat what you did',
    );
  }
}
