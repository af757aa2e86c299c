/**
 * Calls of one service account to custodian A: a bearer token, and for every change a user action, which is a signature of the
 * account's key over a challenge for exactly these bytes. Vectors: vectors/custodian-a.json.
 *
 * @module
 */

import { type KeyObject, sign } from 'node:crypto';
import { type PoolError, parseServiceUrl, type Secret } from '@pool/core';
import {
  createHttpClient,
  describeAnswer,
  type HttpAnswer,
  type HttpClientOptions,
  type HttpExchange,
} from '@pool/http-client';
import * as v from 'valibot';
import { invalidConfiguration } from '../config.ts';
import { createAnswerError, parseSuccess, tryParseKey } from '../custodian/custodian-outcomes.ts';

// The key of a service account at custodian A. It signs the client data of user actions: Ed25519 over the bytes, P-256 over their
// SHA-256 as DER. Vectors: vectors/custodian-a.json.

type ServiceKey = {
  /** The signature as the provider reads it: 64 bytes for Ed25519, DER for P-256. */
  sign(message: Uint8Array): Uint8Array;
};

/**
 * @param pem - PKCS#8 PEM of an Ed25519 or P-256 key
 * @throws PoolError `invalid_configuration`, without the value
 */
export function parseServiceKey(pem: Secret): ServiceKey {
  const key = tryParseKey(pem);
  const algorithm = key === undefined ? undefined : findAlgorithm(key);
  if (key === undefined || algorithm === undefined) {
    throw invalidConfiguration(
      'the key of the service account must be an Ed25519 or P-256 private key as PKCS#8 PEM',
    );
  }
  return { sign: (message) => sign(algorithm.hash, message, key) };
}

function findAlgorithm(key: KeyObject): { readonly hash: 'sha256' | null } | undefined {
  if (key.asymmetricKeyType === 'ed25519') {
    return { hash: null };
  }
  const isP256 =
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return isP256 ? { hash: 'sha256' } : undefined;
}

export type CustodianAAccount = Omit<HttpClientOptions, 'service'> & {
  /** Origin in the client data of user actions. Default: the origin of `url`. */
  readonly origin?: string;
  /** Bearer token of the service account. */
  readonly token: Secret;
  /** Id of the account's credential at the provider. */
  readonly credentialId: string;
  /** Private key of the credential: Ed25519 or P-256, PKCS#8 PEM. */
  readonly serviceKey: Secret;
  /** The provider's prefix of its own headers, which ends with a dash. Default: `x-`. */
  readonly headerPrefix?: string;
};

/** Its body is JSON text, sent and signed byte for byte. */
export type CustodianAChange = Pick<HttpExchange, 'path' | 'cut' | 'signal'> & {
  readonly method: 'POST' | 'PUT';
  readonly body: string;
};

/** A change with its user action, ready to be sent once. */
export type AuthorizedChange = CustodianAChange & {
  readonly headers: Readonly<Record<string, string>>;
};

export type CustodianAClient = ReturnType<typeof createCustodianAClient>;

const challengeSchema = v.object({
  challenge: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  challengeIdentifier: v.pipe(v.string(), v.minLength(1), v.maxLength(8192)),
});

// It becomes a header, so it is printable ASCII.
const userActionSchema = v.object({
  userAction: v.pipe(v.string(), v.regex(/^[!-~]{1,8192}$/)),
});

/** @throws PoolError `invalid_configuration` */
export function createCustodianAClient(account: CustodianAAccount) {
  const { token, credentialId, headerPrefix = 'x-' } = account;
  const call = createHttpClient({ ...account, service: 'custodian' });
  const origin = account.origin ?? parseServiceUrl(account.url, 'the url of the custodian').origin;
  const key = parseServiceKey(account.serviceKey);

  function authorization(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${token.reveal()}` };
  }

  async function post<TSchema extends v.GenericSchema>(
    path: string,
    body: unknown,
    schema: TSchema,
    signal: AbortSignal | undefined,
  ): Promise<v.InferOutput<TSchema>> {
    const answer = await call({
      method: 'POST',
      path,
      headers: authorization(),
      body: JSON.stringify(body),
      signal,
    });
    return parseSuccess({ createRefusal }, schema, answer, 'the user action');
  }

  /** The error of an answer that is not a success, without credentials. */
  function createRefusal(answer: HttpAnswer, what: string): PoolError {
    return createAnswerError(answer, what, describeAnswer(answer, [token]));
  }

  return {
    /** Reads. @throws PoolError `custodian_unreachable`, `custodian_invalid_response` */
    get: (
      path: string,
      { query = {}, cut, signal }: Pick<HttpExchange, 'query' | 'cut' | 'signal'> = {},
    ) => call({ method: 'GET', path, query, headers: authorization(), cut, signal }),

    /**
     * Obtains the user action of a change. The change itself is not sent, so a failure here is safe to repeat.
     * @throws PoolError `custodian_unreachable`, `custodian_refused`, `custodian_invalid_response`
     */
    async authorize(change: CustodianAChange): Promise<AuthorizedChange> {
      const { method, path, body, signal } = change;
      const { challenge, challengeIdentifier } = await post(
        '/auth/action/init',
        {
          userActionPayload: body,
          userActionHttpMethod: method,
          userActionHttpPath: path,
        },
        challengeSchema,
        signal,
      );
      const clientData = encodeClientData(challenge, origin);
      const { userAction } = await post(
        '/auth/action',
        {
          challengeIdentifier,
          firstFactor: {
            kind: 'Key',
            credentialAssertion: {
              credId: credentialId,
              clientData: Buffer.from(clientData).toString('base64url'),
              signature: Buffer.from(key.sign(clientData)).toString('base64url'),
            },
          },
        },
        userActionSchema,
        signal,
      );
      return { ...change, headers: { [`${headerPrefix}useraction`]: userAction } };
    },

    /**
     * Sends a change. After a failure, and after every answer but a 4xx other than 408, it may have been accepted.
     * @throws PoolError `custodian_unreachable`, `custodian_invalid_response`
     */
    send: ({ headers, ...change }: AuthorizedChange) =>
      call({ ...change, headers: { ...authorization(), ...headers } }),

    createRefusal,
  };
}

/** The client data of a key credential. The order of its fields is part of what is signed. */
export function encodeClientData(challenge: string, origin: string): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({ type: 'key.get', challenge, origin, crossOrigin: false }),
  );
}
