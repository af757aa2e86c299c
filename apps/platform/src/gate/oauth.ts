/**
 * OAuth 2.0 client credentials (RFC 6749 §4.4) for the gate's two clients. Access tokens are random and
 * live in memory: a restart ends them, and clients ask anew.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { PoolError, Secret } from '@pool/core';
import { hashCredential, isSameHash } from '../accounts/credential.ts';

export type GateScope = 'gate.read' | 'gate.write';

export type OAuthClient = {
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** What it may ask for; what it gets when it asks for nothing. */
  readonly scopes: readonly GateScope[];
};

export type GrantedToken = {
  readonly accessToken: Secret;
  readonly expiresInSeconds: number;
  readonly scope: string;
};

export type TokenService = {
  /** @throws PoolError `invalid_client` (401), `unsupported_grant_type`, `invalid_scope` (400) */
  grant(request: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly grantType: string | undefined;
    readonly scope: string | undefined;
  }): GrantedToken;
  /** @throws PoolError `unauthorized` (401), `forbidden` (403) when the token lacks the scope */
  assertScope(token: string, scope: GateScope): void;
};

/** @throws PoolError `invalid_config` for a client without id or secret: an empty secret lets everybody in */
export function createTokenService(
  clients: readonly OAuthClient[],
  ttlSeconds: number,
  nowMs: () => number,
): TokenService {
  if (clients.some((client) => client.clientId === '' || client.clientSecret.reveal() === '')) {
    throw new PoolError('invalid_config', 'every client of the gate needs an id and a secret');
  }
  const tokens = new Map<string, { scopes: ReadonlySet<string>; expiresAtMs: number }>();
  return {
    grant({ clientId, clientSecret, grantType, scope }) {
      const client = clients.find((candidate) => candidate.clientId === clientId);
      const given = hashCredential(clientSecret);
      const wanted = hashCredential(client?.clientSecret.reveal() ?? '');
      if (!isSameHash(given, wanted) || client === undefined) {
        throw new PoolError('invalid_client', 'unknown client or wrong secret', { status: 401 });
      }
      if (grantType !== 'client_credentials') {
        throw new PoolError('unsupported_grant_type', 'only client_credentials is supported');
      }
      const asked = scope === undefined || scope === '' ? client.scopes : scope.split(' ');
      if (!asked.every((name) => client.scopes.some((allowed) => allowed === name))) {
        throw new PoolError('invalid_scope', 'this client may not have that scope');
      }
      const now = nowMs();
      for (const [hash, { expiresAtMs }] of tokens) {
        if (expiresAtMs <= now) {
          tokens.delete(hash);
        }
      }
      const token = randomBytes(32).toString('base64url');
      tokens.set(hashCredential(token), {
        scopes: new Set(asked),
        expiresAtMs: now + ttlSeconds * 1000,
      });
      return {
        accessToken: new Secret(token),
        expiresInSeconds: ttlSeconds,
        scope: asked.join(' '),
      };
    },
    assertScope(token, scope) {
      const known = tokens.get(hashCredential(token));
      if (known === undefined || known.expiresAtMs <= nowMs()) {
        throw new PoolError('unauthorized', 'a valid access token is required', { status: 401 });
      }
      if (!known.scopes.has(scope)) {
        throw new PoolError('forbidden', `this token lacks the scope ${scope}`, { status: 403 });
      }
    },
  };
}
