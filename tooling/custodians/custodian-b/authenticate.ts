/**
 * Who calls: `X-API-Key` and a JWT over the exact request (CUSTODY, "Custodian B", Auth). Answers are the documented codes −1 … −12.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { type CryptoKey, compactVerify, decodeProtectedHeader, importSPKI } from 'jose';
import * as v from 'valibot';
import { ApiProblemError } from './api-problem.ts';
import type { ApiUser, Role } from './config.ts';

/** Seconds. The provider's own libraries use all of it. */
const longestLife = 55;
/** Seconds that a caller's clock may be ahead. */
const clockLead = 30;

const claimsSchema = v.object({
  uri: v.string(),
  nonce: v.union([v.pipe(v.string(), v.minLength(1)), v.number()]),
  iat: v.number(),
  exp: v.number(),
  sub: v.string(),
  bodyHash: v.string(),
});

export type SignedRequest = {
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
  /** Path and query as they came. */
  readonly uri: string;
  /** The exact bytes. Empty for GET. */
  readonly body: Uint8Array;
};

export type Authenticator = {
  /** @throws ApiProblemError 401 */
  authenticate(request: SignedRequest): Promise<ApiUser>;
  /** Forgets the nonces that were used. */
  reset(): void;
};

export function createAuthenticator(
  users: readonly ApiUser[],
  nowSeconds: () => number,
): Authenticator {
  /** User and nonce → the second after which the token is refused anyway. */
  const nonces = new Map<string, number>();
  const keys = new Map(users.map((user) => [user, importSPKI(user.publicKey, 'RS256')]));
  for (const key of keys.values()) {
    // A wrong key fails where it is used.
    key.catch(() => undefined);
  }

  async function authenticate(request: SignedRequest): Promise<ApiUser> {
    const token = /^Bearer (\S+)$/.exec(request.authorization ?? '')?.[1];
    if (token === undefined) {
      throw refuse(-3, 'The entire JWT is missing');
    }
    const user = users.find(({ id }) => id === request.apiKey);
    if (user === undefined) {
      throw refuse(-2, 'Missing or unknown API key');
    }
    const claims = await readClaims(token, keys.get(user));
    const now = nowSeconds();
    if (claims.sub !== user.id) {
      throw refuse(-6, 'Wrong user in the JWT');
    }
    if (claims.uri !== request.uri) {
      throw refuse(-4, 'Wrong URL in the JWT');
    }
    if (claims.iat > now + clockLead) {
      throw refuse(-12, 'The request has a future issuance timestamp');
    }
    if (claims.exp <= now) {
      throw refuse(-10, 'The request has expired');
    }
    if (claims.exp - claims.iat > longestLife) {
      throw refuse(-7, 'Token was not accepted: exp is too long after iat');
    }
    if (claims.bodyHash !== createHash('sha256').update(request.body).digest('hex')) {
      throw refuse(-7, 'Token was not accepted: bodyHash');
    }
    useNonce(`${user.id} ${claims.nonce}`, claims.exp, now);
    return user;
  }

  function useNonce(key: string, exp: number, now: number): void {
    for (const [used, end] of nonces) {
      if (end <= now) {
        nonces.delete(used);
      }
    }
    if (nonces.has(key)) {
      throw refuse(-7, 'Token was not accepted: the nonce was used before');
    }
    nonces.set(key, exp);
  }

  return { authenticate, reset: () => nonces.clear() };
}

async function readClaims(
  token: string,
  publicKey: Promise<CryptoKey> | undefined,
): Promise<v.InferOutput<typeof claimsSchema>> {
  try {
    decodeProtectedHeader(token);
  } catch {
    throw refuse(-5, 'Unauthorized: Invalid token format');
  }
  let payload: Uint8Array;
  try {
    const key = (await publicKey) ?? new Uint8Array();
    ({ payload } = await compactVerify(token, key, { algorithms: ['RS256'] }));
  } catch {
    throw refuse(-1, 'Invalid signature');
  }
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch {
    throw refuse(-5, 'Unauthorized: Invalid token format');
  }
  const claims = v.safeParse(claimsSchema, document);
  if (!claims.success) {
    throw refuse(-7, 'Token was not accepted: a claim is missing');
  }
  return claims.output;
}

/** The documented permission of an endpoint. @throws ApiProblemError 401 */
export function requireRole(user: ApiUser, allowed: readonly Role[]): void {
  if (!allowed.includes(user.role)) {
    throw refuse(-8, 'Insufficient permissions');
  }
}

function refuse(code: number, message: string): ApiProblemError {
  return new ApiProblemError(401, code, message);
}
