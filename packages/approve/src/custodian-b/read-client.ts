/**
 * The gate's own read-only connection to custodian B. It only sends GET, whatever its API user may do.
 *
 * @module
 */
import { createHash, type KeyObject, randomUUID } from 'node:crypto';
import { joinUrl, PoolError, type Secret } from '@pool/core';
import {
  type Cut,
  createHttpClient,
  describeAnswer,
  type HttpClientOptions,
} from '@pool/http-client';
import { SignJWT } from 'jose';
import { cutItem } from '../custodian/page-reader.ts';

export type CustodianBReader = {
  /**
   * @param path - below the base URL, without a query
   * @param cut - of a list. Default: that of one item
   * @returns the JSON; undefined for 404
   * @throws PoolError `custodian_unreachable` (retryable), `custodian_refused`
   */
  get(path: string, query?: Readonly<Record<string, string>>, cut?: Cut): Promise<unknown>;
};

const emptyHash = createHash('sha256').update('').digest('hex');

/** The co-signer waits for an answer for 30 seconds, so a read may take a third of it. */
const timeoutMs = 10_000;

export function createCustodianBReader(
  options: Pick<HttpClientOptions, 'fetch'> & {
    readonly url: URL;
    readonly apiKey: Secret;
    readonly apiSecret: Secret<KeyObject>;
    readonly nowMs: () => number;
  },
): CustodianBReader {
  const { url, apiKey, apiSecret, nowMs, ...rest } = options;
  const call = createHttpClient({ ...rest, url: url.href, service: 'custodian', timeoutMs });
  return {
    async get(path, query = {}, cut = cutItem) {
      const { pathname, search } = joinUrl(url, path, query);
      const iat = Math.floor(nowMs() / 1000);
      const token = await new SignJWT({
        uri: `${pathname}${search}`,
        nonce: randomUUID(),
        bodyHash: emptyHash,
      })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuedAt(iat)
        .setExpirationTime(iat + 55)
        .setSubject(apiKey.reveal())
        .sign(apiSecret.reveal());
      const answer = await call({
        method: 'GET',
        path,
        query,
        cut,
        headers: { authorization: `Bearer ${token}`, 'x-api-key': apiKey.reveal() },
      });
      if (answer.status === 404) {
        return undefined;
      }
      if (answer.status !== 200) {
        throw new PoolError(
          'custodian_refused',
          `the custodian does not let the gate read: ${describeAnswer(answer, [apiKey])}; check the gate's API user and its key`,
          { retryable: answer.status >= 500 || answer.status === 429 },
        );
      }
      return answer.body;
    },
  };
}
