/**
 * User actions: a challenge for one request, signed with the account's credential, becomes a token that this one
 * request may carry once.
 *
 * @module
 */
import { createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto';
import * as v from 'valibot';
import type { Clock } from './clock.ts';
import type { Account } from './config.ts';
import { ApiError } from './errors.ts';
import type { Settings } from './settings.ts';

const initSchema = v.strictObject({
  userActionPayload: v.string(),
  userActionHttpMethod: v.picklist(['POST', 'PUT', 'DELETE', 'GET']),
  userActionHttpPath: v.pipe(v.string(), v.minLength(1)),
  userActionServerKind: v.optional(v.literal('Api')),
});

const base64url = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/));

const completeSchema = v.strictObject({
  challengeIdentifier: v.pipe(v.string(), v.minLength(1)),
  firstFactor: v.strictObject({
    kind: v.literal('Key'),
    credentialAssertion: v.strictObject({
      credId: v.string(),
      clientData: base64url,
      signature: base64url,
    }),
  }),
});

const clientDataSchema = v.object({
  type: v.literal('key.get'),
  challenge: v.string(),
  origin: v.string(),
  crossOrigin: v.literal(false),
});

type Bound = {
  readonly userId: string;
  readonly method: string;
  readonly path: string;
  readonly payload: string;
  readonly expiresAt: number;
};

export type UserActions = {
  init(account: Account, body: unknown): unknown;
  complete(account: Account, body: unknown): { readonly userAction: string };
  /** @throws ApiError 400 when it was used, 403 when it is missing, foreign, old or of other bytes */
  use(
    account: Account,
    token: string | undefined,
    request: { readonly method: string; readonly path: string; readonly body: Buffer },
  ): void;
  reset(): void;
};

export function createUserActions(options: {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly origin: string | undefined;
}): UserActions {
  const { clock, settings, origin } = options;
  const challenges = new Map<string, Bound & { readonly challenge: string }>();
  const actions = new Map<string, Bound>();
  const used = new Set<string>();

  return {
    init(account, input) {
      const body = parse(initSchema, input);
      const challenge = randomBytes(48).toString('base64url');
      const challengeIdentifier = randomBytes(32).toString('base64url');
      challenges.set(challengeIdentifier, {
        userId: account.userId,
        method: body.userActionHttpMethod,
        path: body.userActionHttpPath,
        payload: body.userActionPayload,
        expiresAt: clock.now() + settings.challengeSeconds * 1_000,
        challenge,
      });
      return {
        supportedCredentialKinds: [{ kind: 'Key', factor: 'first', requiresSecondFactor: false }],
        challenge,
        challengeIdentifier,
        externalAuthenticationUrl: '',
        allowCredentials: {
          key: [{ type: 'public-key', id: account.credentialId }],
          passwordProtectedKey: [],
          webauthn: [],
        },
      };
    },

    complete(account, input) {
      const { challengeIdentifier, firstFactor } = parse(completeSchema, input);
      const pending = challenges.get(challengeIdentifier);
      // Single use, and a failed try uses it up.
      challenges.delete(challengeIdentifier);
      if (
        pending === undefined ||
        pending.userId !== account.userId ||
        pending.expiresAt < clock.now()
      ) {
        throw new ApiError(400, 'Challenge token is not valid.');
      }
      const { credId, clientData, signature } = firstFactor.credentialAssertion;
      if (credId !== account.credentialId) {
        throw new ApiError(
          401,
          'User does not have a credential that can be used for the application.',
        );
      }
      const data = Buffer.from(clientData, 'base64url');
      if (
        !isSigned(data, Buffer.from(signature, 'base64url'), account.publicKey) ||
        !isExpectedClientData(data, pending.challenge, origin)
      ) {
        throw new ApiError(401, 'Not Authorized.');
      }
      const userAction = randomBytes(32).toString('base64url');
      actions.set(userAction, {
        ...pending,
        expiresAt: clock.now() + settings.userActionSeconds * 1_000,
      });
      return { userAction };
    },

    use(account, token, request) {
      if (token !== undefined && used.has(token)) {
        throw new ApiError(400, 'user action has already been used');
      }
      const bound = token === undefined ? undefined : actions.get(token);
      if (
        token === undefined ||
        bound === undefined ||
        bound.userId !== account.userId ||
        bound.expiresAt < clock.now() ||
        bound.method !== request.method ||
        bound.path !== request.path ||
        !isEqual(Buffer.from(bound.payload, 'utf8'), request.body)
      ) {
        throw new ApiError(403, 'user action signature is missing or invalid');
      }
      actions.delete(token);
      used.add(token);
    },

    reset() {
      challenges.clear();
      actions.clear();
      used.clear();
    },
  };
}

function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input);
  if (!result.success) {
    const [issue] = result.issues;
    throw new ApiError(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
  }
  return result.output;
}

/** Ed25519 over the bytes; P-256 over their SHA-256, DER. */
function isSigned(data: Buffer, signature: Buffer, publicKey: string): boolean {
  const key = createPublicKey(publicKey);
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    return verify(algorithm, data, key, signature);
  } catch {
    return false;
  }
}

function isExpectedClientData(data: Buffer, challenge: string, origin: string | undefined) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(data.toString('utf8'));
  } catch {
    return false;
  }
  const result = v.safeParse(clientDataSchema, parsed);
  return (
    result.success &&
    result.output.challenge === challenge &&
    (origin === undefined || result.output.origin === origin)
  );
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
