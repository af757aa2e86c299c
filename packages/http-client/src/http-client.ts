/**
 * JSON over {@link fetchBounded} with one service (SECURITY.md, "How the protection works"): https except on loopback.
 *
 * The body is a string that is sent byte for byte, because both custodians sign or hash the exact bytes of it. Every HTTP status is
 * an answer: whether a request may have been accepted is the caller's decision.
 *
 * @module
 */
import { cleanMessage, joinUrl, parseServiceUrl, type Secret } from '@pool/core';
import {
  type BoundedAnswer,
  type BoundedRequest,
  createTooLarge,
  fetchBounded,
  readJson,
} from './fetch-bounded.ts';
import { type Cut, maxKeptBytes, readCutJson } from './read-cut-json.ts';

export type HttpClientOptions = Pick<BoundedRequest, 'service' | 'timeoutMs' | 'fetch'> & {
  /** Base address. https, or plain http on loopback. */
  readonly url: string;
};

export type HttpExchange = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path below the base address, with a leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, sent as it is. */
  readonly body?: string;
  /** How an answer is read whose size others decide. Absent: an answer of more than 1 MiB is an error. */
  readonly cut?: Cut | undefined;
  /** Ends the exchange; the call then throws the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
};

/** Its body is the parsed JSON; undefined for an empty answer or one that is not JSON. */
export type HttpAnswer = BoundedAnswer<unknown>;

/**
 * Sends one request and reads its answer.
 * @throws PoolError `<service>_unreachable` (retryable) if no answer arrives in time, and for a redirect; `<service>_invalid_response`
 *   for an answer that is too large. In both cases the request may have been accepted.
 */
export type HttpClient = (exchange: HttpExchange) => Promise<HttpAnswer>;

/** A page of 100 requests with typed data is about 300 KiB. */
const maxBytes = 1024 * 1024;

/** @throws PoolError `invalid_configuration` */
export function createHttpClient({
  url,
  service,
  timeoutMs,
  fetch,
}: HttpClientOptions): HttpClient {
  const base = parseServiceUrl(url, `the url of the ${service}`);
  return ({ method, path, query, headers, body, cut, signal }) =>
    fetchBounded(
      {
        fetch,
        service,
        timeoutMs,
        signal,
        url: joinUrl(base, path, query),
        maxBytes: cut?.maxBytes ?? maxBytes,
        init: {
          method,
          headers: {
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body }),
        },
      },
      cut === undefined
        ? readJson
        : (chunks) => readCutJson(chunks, cut, () => createTooLarge(service, maxKeptBytes)),
    );
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status <= 299;
}

/**
 * The reason that an error answer gives, for a message: printable, short, and without our own credentials, which a peer may echo.
 * @param secrets - the credentials that were sent
 * @returns for example `HTTP 403: no permission`
 */
export function describeAnswer(answer: HttpAnswer, secrets: readonly Secret[] = []): string {
  const text = findMessage(answer.body);
  const redacted = secrets.reduce(
    (message, secret) => message?.replaceAll(secret.reveal(), '[redacted]'),
    text,
  );
  const reason = redacted === undefined ? '' : cleanMessage(redacted);
  return reason === '' ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${reason}`;
}

/** `{message}`, `{error: {message}}` or `{error: text}`. */
function findMessage(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) {
    return undefined;
  }
  if ('message' in body && typeof body.message === 'string') {
    return body.message;
  }
  if (!('error' in body)) {
    return undefined;
  }
  return typeof body.error === 'string' ? body.error : findMessage(body.error);
}
