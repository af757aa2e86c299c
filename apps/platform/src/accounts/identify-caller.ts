/**
 * Identifies the caller: the wallet of a session, an agent by its edge token, or a holder by an API key. Each has its
 * own limit. A caller without a valid credential draws on the limit of its address. Where the owner of the limit is
 * known by then, the limit is taken before the database is queried (docs/decisions/0010).
 *
 * @module
 */
import type { VerifiedKey } from '@pool/api';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { ShellContext } from '@pool/http-server';
import { hashCredential, readBearer, unauthorized } from '@pool/http-server';
import { getCookie } from 'hono/cookie';
import { findSession, type KeySession, type Session, sessionCookie } from '../auth/sessions.ts';
import { apiKeyPrefix, type CredentialMint, edgeTokenPrefix } from '../credentials/credential.ts';
import type { CredentialMemory } from '../credentials/credential-memory.ts';
import type { AdmissionConfig } from '../employers/admission.ts';
import { type Employer, getEmployer } from '../employers/employers.ts';
import type { Limiter, RateLimits } from '../http/rate-limit.ts';
import { type EdgeCaller, findEdgeEmployer, isKnownEmployer, verifyApiKey } from './credentials.ts';

export type CallerDeps = {
  readonly db: PlatformDatabase;
  readonly limits: RateLimits;
  readonly credentials: CredentialMint;
  readonly memory: CredentialMemory;
  /** Whether a token that an employer made itself needs an admitted wallet. */
  readonly admission: Pick<AdmissionConfig, 'invitations'>;
  readonly nowMs: () => number;
};

/** @throws PoolError `unauthorized` (401), `rate_limited` (429) */
export async function identifySession(deps: CallerDeps, c: ShellContext): Promise<Session> {
  const cookie = getCookie(c, sessionCookie) ?? '';
  return await identify(deps, c, {
    kind: 'session',
    hash: hashCredential(cookie),
    isOurs: deps.credentials.isOurCookie(cookie),
    find: () => findSession(deps.db, cookie, deps.nowMs()),
    limiter: deps.limits.session,
    // Per wallet: opening more sessions must not raise the limit. A contract on another chain is another wallet.
    callerOf: ({ address, contractChainId }) =>
      contractChainId === undefined ? address : `${address} ${contractChainId}`,
    refusal: 'sign in first: the sessionId cookie is missing or expired',
  });
}

/** The account of a session's wallet. @throws PoolError as `identifySession` and `getEmployer` */
export async function identifyEmployer(deps: CallerDeps, c: ShellContext): Promise<Employer> {
  return await getEmployer(deps.db, await identifySession(deps, c));
}

/** The row that the path names. 0, which no row has: it is no number. */
export function readRowId(c: ShellContext): number {
  return Number(/^[1-9][0-9]{0,8}$/.exec(c.req.param('id') ?? '')?.[0] ?? 0);
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
    );
  }
}

/**
 * The employer of an edge token.
 * @throws PoolError `unauthorized` (401), `edge_token_not_allowed` (403), `rate_limited` (429)
 */
export async function identifyAgent(deps: CallerDeps, c: ShellContext): Promise<EdgeCaller> {
  const token = await readLimitedBearer(deps, c);
  const hash = hashCredential(token);
  const caller = await identify(deps, c, {
    kind: 'edge-token',
    hash,
    isOurs: deps.credentials.isOurs(edgeTokenPrefix, token),
    find: () => findEdgeEmployer(deps.db, token),
    limiter: deps.limits.edge,
    callerOf: () => hash,
  });
  // The operator removed the wallet, or revoked the last token that it gave the employer. Admitted again, the token is good again.
  if (!(await isKnownEmployer(deps.db, deps.admission, caller))) {
    throw new PoolError(
      'edge_token_not_allowed',
      'the wallet of this employer is not on the eligibility list any more, so the edge tokens that it made itself are refused; ask the operator of the platform',
    );
  }
  return caller;
}

/** The capability of an API key. @throws PoolError `unauthorized` (401), `rate_limited` (429) */
export async function identifyKey(
  deps: CallerDeps,
  c: ShellContext,
): Promise<VerifiedKey & { readonly valid: true }> {
  const apiKey = await readLimitedBearer(deps, c);
  const hash = hashCredential(apiKey);
  return await identify(deps, c, {
    kind: 'api-key',
    hash,
    isOurs: deps.credentials.isOurs(apiKeyPrefix, apiKey),
    async find() {
      const key = await verifyApiKey(deps.db, apiKey);
      return key.valid ? key : undefined;
    },
    limiter: deps.limits.edge,
    callerOf: () => hash,
  });
}

type Presented<T> = {
  readonly kind: 'session' | 'edge-token' | 'api-key';
  readonly hash: string;
  readonly isOurs: boolean;
  /** Queries the database. */
  find(): Promise<T | undefined>;
  readonly limiter: Limiter;
  /** The owner of the limit that a valid credential draws on. */
  callerOf(found: T): string;
  readonly refusal?: string;
};

async function identify<T>(
  { limits, memory }: CallerDeps,
  c: ShellContext,
  { kind, hash, isOurs, find, limiter, callerOf, refusal }: Presented<T>,
): Promise<T> {
  const address = c.get('callerAddress');
  // With the kind: what is dead as a cookie may be a live bearer credential.
  const entry = `${kind} ${hash}`;
  const known = memory.recall(entry);
  if (!isOurs || known?.kind === 'dead') {
    await limits.address.take(address);
    throw unauthorized(refusal);
  }
  if (known?.kind === 'good') {
    await limiter.take(known.caller);
  }
  // A credential of ours is checked even when the address has used up its limit: others behind the address may be guessing.
  const found = await find();
  if (found === undefined) {
    memory.remember(entry, { kind: 'dead' });
    await limits.address.take(address);
    throw unauthorized(refusal);
  }
  const caller = callerOf(found);
  memory.remember(entry, { kind: 'good', caller });
  if (known === undefined) {
    await limiter.take(caller);
  }
  return found;
}

async function readLimitedBearer(deps: CallerDeps, c: ShellContext): Promise<string> {
  try {
    return readBearer(c);
  } catch (error) {
    await deps.limits.address.take(c.get('callerAddress'));
    throw error;
  }
}
