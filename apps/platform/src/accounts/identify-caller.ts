/**
 * Who calls: a session's wallet, an agent by its edge token, or a holder by an API key. Each has a limit of
 * its own; whoever shows no good credential draws on the limit of his address.
 *
 * @module
 */
import { PoolError, type VerifiedKey } from '@pool/core';
import { getCookie } from 'hono/cookie';
import { findSession, type KeySession, type Session, sessionCookie } from '../auth/sessions.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { ShellContext } from '../http/app-shell.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { readBearer, unauthorized } from '../http/read-request.ts';
import { verifyApiKey } from './api-keys.ts';
import { hashCredential } from './credential.ts';
import { type EdgeCaller, findEdgeEmployer } from './edge-tokens.ts';

export type CallerDeps = {
  readonly db: PlatformDatabase;
  readonly limits: RateLimits;
  readonly nowMs: () => number;
};

/** @throws PoolError `unauthorized` (401), `rate_limited` (429) */
export async function identifySession(deps: CallerDeps, c: ShellContext): Promise<Session> {
  const session = await findSession(deps.db, getCookie(c, sessionCookie), deps.nowMs());
  if (session === undefined) {
    deps.limits.address.take(c.get('callerAddress'));
    throw unauthorized('sign in first: the sessionId cookie is missing or expired');
  }
  // By wallet: opening more sessions must not raise its limit. A contract of another chain is another wallet.
  const { address, contractChainId } = session;
  deps.limits.session.take(
    contractChainId === undefined ? address : `${address} ${contractChainId}`,
  );
  return session;
}

/**
 * A session of a wallet that can hold notes.
 * @throws PoolError `unauthorized` (401), `rate_limited` (429), `contract_wallet_unsupported` (403)
 */
export async function identifyHolder(deps: CallerDeps, c: ShellContext): Promise<KeySession> {
  const session = await identifySession(deps, c);
  assertHolder(session);
  return session;
}

/** Notes are bound to W, and a contract has none. @throws PoolError `contract_wallet_unsupported` (403) */
export function assertHolder(session: Session): asserts session is KeySession {
  if (session.walletPub === undefined) {
    throw new PoolError(
      'contract_wallet_unsupported',
      'a contract wallet has no public key that notes could be bound to, so it can pay and not hold; ' +
        'sign in with a wallet that has a key of its own',
      { status: 403 },
    );
  }
}

/** The employer whose edge token it is. @throws PoolError `unauthorized` (401), `rate_limited` (429) */
export async function identifyAgent(deps: CallerDeps, c: ShellContext): Promise<EdgeCaller> {
  const token = readLimitedBearer(deps, c);
  const employer = await findEdgeEmployer(deps.db, token);
  if (employer === undefined) {
    deps.limits.address.take(c.get('callerAddress'));
    throw unauthorized();
  }
  deps.limits.edge.take(hashCredential(token));
  return employer;
}

/** What the API key is good for. @throws PoolError `unauthorized` (401), `rate_limited` (429) */
export async function identifyKey(
  deps: CallerDeps,
  c: ShellContext,
): Promise<VerifiedKey & { readonly valid: true }> {
  const apiKey = readLimitedBearer(deps, c);
  const key = await verifyApiKey(deps.db, apiKey);
  if (!key.valid) {
    deps.limits.address.take(c.get('callerAddress'));
    throw unauthorized();
  }
  deps.limits.edge.take(hashCredential(apiKey));
  return key;
}

function readLimitedBearer(deps: CallerDeps, c: ShellContext): string {
  try {
    return readBearer(c);
  } catch (error) {
    deps.limits.address.take(c.get('callerAddress'));
    throw error;
  }
}
