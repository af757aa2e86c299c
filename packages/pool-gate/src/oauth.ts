/**
 * OAuth 2.0 client credentials (RFC 6749 §4.4) of the gate. Access tokens are random and
 * live in memory: a restart ends them, and clients request new ones.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { PoolError, Secret } from '@pool/core';
import { createCallerLimiter, hashCredential, isSameHash } from '@pool/http-server';

export type GateScope = 'gate.read' | 'gate.write';

export type OAuthClient = {
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The scopes that it may request; it gets all of them when it requests none. */
  readonly scopes: readonly GateScope[];
};

type TokenRequest = {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly grantType: string | undefined;
  readonly scope: string | undefined;
  /** The source of the request, for limits. */
  readonly address: string;
};

/** Sustained requests for tokens per second; ten seconds' worth may arrive at once. */
export type TokenLimits = {
  /** Per address, for requests whose credentials are not valid. */
  readonly addressPerSecond: number;
  /** Per client, from any address. */
  readonly clientPerSecond: number;
};

const defaultTokenLimits: TokenLimits = { addressPerSecond: 10, clientPerSecond: 10 };

export type TokenService = ReturnType<typeof createTokenService>;

/** A client, prepared for the comparison of credentials. */
export type KnownClient = {
  readonly secretHash: string;
  readonly scopes: readonly GateScope[];
  /** Whether its secret is too short to be beyond guessing. */
  readonly isGuessable: boolean;
};

/** A random secret of this many characters cannot be guessed. */
const unguessableLength = 32;

/** @throws PoolError `invalid_configuration` for a client without id or secret: an empty secret would admit every caller */
export function createTokenService(
  clients: readonly OAuthClient[],
  ttlSeconds: number,
  nowMs: () => number,
  options: {
    readonly limits?: TokenLimits;
    /** Clients besides the configured ones; they change while the gate runs. */
    readonly readers?: { find(clientId: string): KnownClient | undefined };
  } = {},
) {
  if (clients.some((client) => client.clientId === '' || client.clientSecret.reveal() === '')) {
    throw new PoolError(
      'invalid_configuration',
      'every client of the gate needs an id and a secret',
    );
  }
  const { addressPerSecond, clientPerSecond } = options.limits ?? defaultTokenLimits;
  const addresses = createCallerLimiter(addressPerSecond, nowMs);
  const turns = createCallerLimiter(clientPerSecond, nowMs);
  const known = new Map<string, KnownClient>(
    clients.map(({ clientId, clientSecret, scopes }) => {
      const secret = clientSecret.reveal();
      const isGuessable = secret.length < unguessableLength;
      return [clientId, { secretHash: hashCredential(secret), scopes, isGuessable }];
    }),
  );
  // An unknown client takes as long to refuse as a wrong secret.
  const nobody = hashCredential(randomBytes(32).toString('base64url'));
  const tokens = createAccessTokens<{
    readonly scopes: ReadonlySet<string>;
    readonly clientId: string;
    readonly client: KnownClient;
  }>();
  const findClient = (clientId: string): KnownClient | undefined =>
    known.get(clientId) ?? options.readers?.find(clientId);

  /**
   * The limit of the address is checked first: otherwise an address over its limit would still learn from the answer
   * whether its guess was right. A long secret is compared before that, so that others behind the address cannot lock it out.
   */
  function authenticate(clientId: string, clientSecret: string, address: string): KnownClient {
    const client = findClient(clientId);
    const isGuessable = client?.isGuessable ?? true;
    if (isGuessable) {
      addresses.take(address);
    }
    const isRight = isSameHash(hashCredential(clientSecret), client?.secretHash ?? nobody);
    if (client === undefined || !isRight) {
      if (!isGuessable) {
        addresses.take(address);
      }
      throw new PoolError('invalid_client', 'unknown client or wrong secret');
    }
    if (isGuessable) {
      addresses.giveBack(address);
    }
    turns.take(clientId);
    return client;
  }

  return {
    /** @throws PoolError `invalid_client` (401), `unsupported_grant_type`, `invalid_scope` (400), `rate_limited` (429) */
    grant({ clientId, clientSecret, grantType, scope, address }: TokenRequest) {
      const client = authenticate(clientId, clientSecret, address);
      if (grantType !== 'client_credentials') {
        throw new PoolError('unsupported_grant_type', 'only client_credentials is supported');
      }
      const asked = scope === undefined || scope === '' ? client.scopes : scope.split(' ');
      if (!asked.every((name) => client.scopes.some((allowed) => allowed === name))) {
        throw new PoolError('invalid_scope', 'this client may not have that scope');
      }
      const token = randomBytes(32).toString('base64url');
      const now = nowMs();
      const times = { nowMs: now, expiresAtMs: now + ttlSeconds * 1000 };
      tokens.add(token, { scopes: new Set<string>(asked), clientId, client }, times);
      return {
        accessToken: new Secret(token),
        expiresInSeconds: ttlSeconds,
        scope: asked.join(' '),
      };
    },
    /** @throws PoolError `unauthorized` (401), `forbidden` (403) when the token lacks the scope */
    assertScope(token: string, scope: GateScope) {
      const granted = tokens.find(token, nowMs());
      // A token is valid only as long as its client: it ends when the client is revoked or gets another secret.
      if (granted === undefined || findClient(granted.clientId) !== granted.client) {
        throw new PoolError('unauthorized', 'a valid access token is required');
      }
      if (!granted.scopes.has(scope)) {
        throw new PoolError('forbidden', `this token lacks the scope ${scope}`);
      }
    },
  };
}

/** More than one, so that the number of expired tokens falls; few, so that no grant takes long. */
export const deletedPerGrant = 16;

/**
 * Granted access tokens, found by their hash. All have the same lifetime, so the map is in the order of expiry: the
 * oldest come first, and each grant deletes a few expired ones.
 */
export function createAccessTokens<T>() {
  const tokens = new Map<string, { readonly grant: T; readonly expiresAtMs: number }>();
  return {
    get size() {
      return tokens.size;
    },
    add(token: string, grant: T, { nowMs, expiresAtMs }: { nowMs: number; expiresAtMs: number }) {
      let looked = 0;
      for (const [hash, oldest] of tokens) {
        if (looked === deletedPerGrant || oldest.expiresAtMs > nowMs) {
          break;
        }
        tokens.delete(hash);
        looked += 1;
      }
      tokens.set(hashCredential(token), { grant, expiresAtMs });
    },
    /** The grant of the token; undefined for an unknown or expired one. */
    find(token: string, nowMs: number): T | undefined {
      const known = tokens.get(hashCredential(token));
      return known === undefined || known.expiresAtMs <= nowMs ? undefined : known.grant;
    },
  };
}
