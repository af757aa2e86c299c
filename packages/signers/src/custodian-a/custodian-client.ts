/**
 * Calls of one service account to custodian A: a bearer token, and for every change a user action, which is a signature of the
 * account's key over a challenge for exactly these bytes. Vectors: vectors/custodian-a.json.
 *
 * @module
 */
import { type PoolError, parseServiceUrl, type Secret } from '@pool/core';
import type { Cut } from '@pool/http-client';
import {
  createHttpClient,
  describeAnswer,
  type HttpAnswer,
  type HttpClientOptions,
} from '@pool/http-client';
import * as v from 'valibot';
import { createAnswerError, parseSuccess } from '../custodian/custodian-outcomes.ts';
import { parseServiceKey } from './service-key.ts';

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

export type CustodianAChange = {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  /** JSON text, sent and signed byte for byte. */
  readonly body: string;
  /** How the answer is read. */
  readonly cut?: Cut | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A change with its user action, ready to be sent once. */
export type AuthorizedChange = CustodianAChange & {
  readonly headers: Readonly<Record<string, string>>;
};

export type CustodianAClient = {
  /** Reads. @throws PoolError `custodian_unreachable`, `custodian_invalid_response` */
  get(
    path: string,
    options?: {
      readonly query?: Readonly<Record<string, string>>;
      readonly cut?: Cut | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<HttpAnswer>;
  /**
   * Obtains the user action of a change. The change itself is not sent, so a failure here is safe to repeat.
   * @throws PoolError `custodian_unreachable`, `custodian_refused`, `custodian_invalid_response`
   */
  authorize(change: CustodianAChange): Promise<AuthorizedChange>;
  /**
   * Sends a change. After a failure, and after every answer but a 4xx other than 408, it may have been accepted.
   * @throws PoolError `custodian_unreachable`, `custodian_invalid_response`
   */
  send(change: AuthorizedChange): Promise<HttpAnswer>;
  /** The error of an answer that is not a success, without credentials. */
  createRefusal(answer: HttpAnswer, what: string): PoolError;
};

const challengeSchema = v.object({
  challenge: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  challengeIdentifier: v.pipe(v.string(), v.minLength(1), v.maxLength(8192)),
});

// It becomes a header, so it is printable ASCII.
const userActionSchema = v.object({
  userAction: v.pipe(v.string(), v.regex(/^[!-~]{1,8192}$/)),
});

/** @throws PoolError `invalid_configuration` */
export function createCustodianAClient(account: CustodianAAccount): CustodianAClient {
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

  function createRefusal(answer: HttpAnswer, what: string): PoolError {
    return createAnswerError(answer, what, describeAnswer(answer, [token]));
  }

  return {
    get: (path, { query = {}, cut, signal } = {}) =>
      call({ method: 'GET', path, query, headers: authorization(), cut, signal }),

    async authorize(change) {
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

    send: ({ headers, ...change }) =>
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
