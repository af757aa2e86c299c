/**
 * OAuth 2.0 client credentials (RFC 6749 §4.4) of the gate. An access token is a statement with a MAC under a key that is in the database,
 * so that every gate of the database accepts it and no guess of one causes a query.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { PoolError, Secret } from '@pool/core';
import type { SharedLimit } from '@pool/database';
import { createRateLimiter, hashCredential, isSameHash } from '@pool/http-server';

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

/** In memory, or in the database of several gates. */
type Limiter = {
  take(caller: string): void | Promise<void>;
  giveBack(caller: string): void | Promise<void>;
};

/** What a token says. Its MAC is over exactly these words. */
type Statement = {
  /** Random: no two tokens are equal. */
  readonly id: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
  /** A MAC of the secret with which it was requested: a client with another one has to request another token. */
  readonly secret: string;
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
    readonly readers?: {
      /** As this gate has seen it. */
      find(clientId: string): KnownClient | undefined;
      /** As the row has it. */
      read(clientId: string): Promise<KnownClient | undefined>;
    };
    /** Of the tokens' MACs. Default: a new one, so that a restart ends them. Secret. */
    readonly key?: Uint8Array;
    /** Makes a limit over all gates of a database. Default: limits in memory. */
    readonly shareLimit?: ((limit: SharedLimit) => Limiter) | undefined;
  } = {},
) {
  if (clients.some((client) => client.clientId === '' || client.clientSecret.reveal() === '')) {
    throw new PoolError(
      'invalid_configuration',
      'every client of the gate needs an id and a secret',
    );
  }
  const { addressPerSecond, clientPerSecond } = options.limits ?? defaultTokenLimits;
  const { readers, key = randomBytes(32), shareLimit } = options;
  const limit = (name: string, perSecond: number): Limiter => {
    const rate = { perSecond, burst: 10 * perSecond };
    return shareLimit?.({ name, ...rate }) ?? createRateLimiter({ ...rate, nowMs });
  };
  const addresses = limit('address', addressPerSecond);
  const turns = limit('client', clientPerSecond);
  const computeMac = (body: string) => createHmac('sha256', key).update(body).digest('base64url');
  const known = new Map<string, KnownClient>(
    clients.map(({ clientId, clientSecret, scopes }) => {
      const secret = clientSecret.reveal();
      const isGuessable = secret.length < unguessableLength;
      return [clientId, { secretHash: hashCredential(secret), scopes, isGuessable }];
    }),
  );
  // An unknown client takes as long to refuse as a wrong secret.
  const nobody = hashCredential(randomBytes(32).toString('base64url'));

  /**
   * The limit of the address is checked first: otherwise an address over its limit would still learn from the answer
   * whether its guess was right. A long secret is compared before that, so that others behind the address cannot lock it out.
   */
  async function authenticate(
    clientId: string,
    clientSecret: string,
    address: string,
  ): Promise<KnownClient> {
    const seen = known.get(clientId) ?? readers?.find(clientId);
    const isRight = (client: KnownClient | undefined) =>
      isSameHash(hashCredential(clientSecret), client?.secretHash ?? nobody) &&
      client !== undefined;
    const isLimited = (seen?.isGuessable ?? true) || !isRight(seen);
    if (isLimited) {
      await addresses.take(address);
    }
    // Another gate may have written a new client, or a new secret.
    const client = isRight(seen) || known.has(clientId) ? seen : await readers?.read(clientId);
    if (client === undefined || !isRight(client)) {
      throw new PoolError('invalid_client', 'unknown client or wrong secret');
    }
    if (isLimited) {
      await addresses.giveBack(address);
    }
    await turns.take(clientId);
    return client;
  }

  /** What this gate, or another one of its database, stated. */
  function parseToken(token: string): Statement | undefined {
    const [body = '', mac = ''] = token.split('.');
    return isSameHash(computeMac(body), mac)
      ? (JSON.parse(Buffer.from(body, 'base64url').toString()) as Statement)
      : undefined;
  }

  return {
    /** @throws PoolError `invalid_client` (401), `unsupported_grant_type`, `invalid_scope` (400), `rate_limited` (429) */
    async grant({ clientId, clientSecret, grantType, scope, address }: TokenRequest) {
      const client = await authenticate(clientId, clientSecret, address);
      if (grantType !== 'client_credentials') {
        throw new PoolError('unsupported_grant_type', 'only client_credentials is supported');
      }
      const asked = scope === undefined || scope === '' ? client.scopes : scope.split(' ');
      if (!asked.every((name) => client.scopes.some((allowed) => allowed === name))) {
        throw new PoolError('invalid_scope', 'this client may not have that scope');
      }
      const statement: Statement = {
        id: randomBytes(12).toString('base64url'),
        clientId,
        scopes: asked,
        expiresAtMs: nowMs() + ttlSeconds * 1000,
        secret: computeMac(client.secretHash),
      };
      const body = Buffer.from(JSON.stringify(statement)).toString('base64url');
      const token = `${body}.${computeMac(body)}`;
      return {
        accessToken: new Secret(token),
        expiresInSeconds: ttlSeconds,
        scope: asked.join(' '),
      };
    },
    /** @throws PoolError `unauthorized` (401), `forbidden` (403) when the token lacks the scope */
    async assertScope(token: string, scope: GateScope) {
      const stated = parseToken(token);
      const client =
        stated === undefined || stated.expiresAtMs <= nowMs()
          ? undefined
          : (known.get(stated.clientId) ?? (await readers?.read(stated.clientId)));
      // A token is valid only as long as its client: it ends when the client is revoked or gets another secret.
      if (client === undefined || stated?.secret !== computeMac(client.secretHash)) {
        throw new PoolError('unauthorized', 'a valid access token is required');
      }
      if (!stated.scopes.includes(scope) || !client.scopes.includes(scope)) {
        throw new PoolError('forbidden', `this token lacks the scope ${scope}`);
      }
    },
  };
}
