/**
 * Calls of one API user to custodian B: its key in a header, and a JWT (RS256) over path, body and time of exactly this request.
 * Vectors: vectors/custodian-b.json.
 *
 * @module
 */

import { createHash, type KeyObject, randomUUID, sign } from 'node:crypto';
import { joinUrl, type PoolError, parseServiceUrl, type Secret } from '@pool/core';
import {
  createHttpClient,
  describeAnswer,
  type HttpAnswer,
  type HttpClientOptions,
  type HttpExchange,
} from '@pool/http-client';
import { invalidConfiguration } from '../config.ts';
import { createAnswerError, tryParseKey } from '../custodian/custodian-outcomes.ts';

export type CustodianBAccount = Omit<HttpClientOptions, 'service'> & {
  /** Id of the API user. It is sent as a header, and treated as a secret. */
  readonly apiKey: Secret;
  /** Private key of the API user: RSA of 2,048 bits or more, PKCS#8 PEM. */
  readonly apiSecret: Secret;
  /** Clock of the tokens, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
  /** Makes a token usable once. Default: a random UUID. */
  readonly createNonce?: () => string;
};

export type CustodianBClient = ReturnType<typeof createCustodianBClient>;

/** What the provider's own libraries use, in seconds. The provider refuses more. */
const tokenLifeSeconds = 55;

/** @throws PoolError `invalid_configuration` */
export function createCustodianBClient(account: CustodianBAccount) {
  const { apiKey, apiSecret, nowMs = Date.now, createNonce = randomUUID } = account;
  const base = parseServiceUrl(account.url, 'the url of the custodian');
  const call = createHttpClient({ ...account, service: 'custodian' });
  const key = parseApiSecret(apiSecret);

  /** Headers for one request. A token is used once, so a repetition needs new ones. */
  function authorize(uri: string, body = ''): Readonly<Record<string, string>> {
    const iat = Math.floor(nowMs() / 1000);
    const claims = {
      uri,
      nonce: createNonce(),
      iat,
      exp: iat + tokenLifeSeconds,
      sub: apiKey.reveal(),
      bodyHash: createHash('sha256').update(body, 'utf8').digest('hex'),
    };
    return { 'x-api-key': apiKey.reveal(), authorization: `Bearer ${encodeToken(claims, key)}` };
  }

  return {
    /** Reads. @throws PoolError `custodian_unreachable`, `custodian_invalid_response` */
    get(path: string, { query = {}, signal }: Pick<HttpExchange, 'query' | 'signal'> = {}) {
      const { pathname, search } = joinUrl(base, path, query);
      const headers = authorize(`${pathname}${search}`);
      return call({ method: 'GET', path, query, headers, signal });
    },

    /**
     * Sends a change. After a failure, and after every answer but a 4xx other than 408, it may have been accepted.
     * @param change.body - JSON text, sent and hashed byte for byte; omitted: no body
     * @param change.idempotencyKey - the provider answers a repetition with the first answer, for 24 hours
     * @throws PoolError `custodian_unreachable`, `custodian_invalid_response`
     */
    post(
      path: string,
      change: Pick<HttpExchange, 'body' | 'signal'> & { readonly idempotencyKey?: string },
    ) {
      const { body, idempotencyKey, signal } = change;
      const headers = {
        ...authorize(joinUrl(base, path).pathname, body),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      };
      return call({
        method: 'POST',
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        signal,
      });
    },

    /** The error of an answer that is not a success, without credentials. */
    createRefusal(answer: HttpAnswer, what: string): PoolError {
      // A token that the peer repeats is spent, but it names the API user.
      const reason = describeAnswer(answer, [apiKey]).replace(/eyJ[\w.-]+/g, '[redacted]');
      return createAnswerError(answer, what, reason);
    },
  };
}

/** A compact JWS (RFC 7515) with RSASSA-PKCS1-v1_5 and SHA-256. */
function encodeToken(claims: Readonly<Record<string, string | number>>, key: KeyObject): string {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
  const signed = `${encode({ typ: 'JWT', alg: 'RS256' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed, 'ascii'), key);
  return `${signed}.${signature.toString('base64url')}`;
}

function parseApiSecret(pem: Secret): KeyObject {
  const key = tryParseKey(pem);
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key === undefined || key.asymmetricKeyType !== 'rsa' || bits < 2048) {
    throw invalidConfiguration(
      'the API secret of custodian B must be an RSA private key of at least 2,048 bits as PKCS#8 PEM',
    );
  }
  return key;
}
