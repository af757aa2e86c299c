/**
 * Outbound HTTP of the adapters: one bounded exchange with a custodian or an approve process (SECURITY.md, "How the protection works").
 * A time limit for the whole exchange, no redirects, a maximum size of the answer, https except on loopback.
 *
 * The body is a string that is sent byte for byte, because both custodians sign or hash the exact bytes of it. Every HTTP status is
 * an answer: whether a request may have been accepted is the caller's decision.
 *
 * @module
 */
import { cleanMessage, joinUrl, PoolError, parseServiceUrl, type Secret } from '@pool/core';
import * as v from 'valibot';
import { type Cut, maxKeptBytes, readCutJson } from './read-cut-json.ts';

/** The services that are called. Their failures have the codes `<service>_unreachable` and `<service>_invalid_response`. */
export type HttpService = 'custodian' | 'approver';

export type HttpClientOptions = {
  /** Base address. https, or plain http on loopback. */
  readonly url: string;
  readonly service: HttpService;
  /** Time limit of one exchange, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
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

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined for an empty answer or one that is not JSON. */
  readonly body: unknown;
};

/**
 * Sends one request and reads its answer.
 * @throws PoolError `<service>_unreachable` (retryable) if no answer arrives in time, and for a redirect; `<service>_invalid_response`
 *   for an answer that is too large. In both cases the request may have been accepted.
 */
export type HttpClient = (exchange: HttpExchange) => Promise<HttpAnswer>;

const defaultTimeoutMs = 30_000;

/** A page of 100 requests with typed data is about 300 KiB. */
const maxBytes = 1024 * 1024;

/** @throws PoolError `invalid_url` */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { service, timeoutMs = defaultTimeoutMs, fetch: send = fetch } = options;
  const base = parseServiceUrl(options.url, `the url of the ${service}`);
  return async ({ method, path, query, headers, body, cut, signal }) => {
    signal?.throwIfAborted();
    const deadline = AbortSignal.timeout(timeoutMs);
    const signals = signal === undefined ? [deadline] : [deadline, signal];
    try {
      const response = await send(joinUrl(base, path, query).href, {
        method,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal: AbortSignal.any(signals),
      });
      if (isRedirect(response)) {
        // A page of a proxy during maintenance, or a wrong address, which a probe shows.
        throw new PoolError(
          `${service}_unreachable`,
          `the ${service} answered with a redirect; configure its final address`,
        );
      }
      const { status, headers: received } = response;
      const chunks = readBounded(response, service, cut?.maxBytes ?? maxBytes);
      return { status, headers: received, body: await readJson(chunks, service, cut) };
    } catch (cause) {
      if (cause instanceof PoolError) {
        throw cause;
      }
      signal?.throwIfAborted();
      throw new PoolError(
        `${service}_unreachable`,
        deadline.aborted
          ? `the ${service} did not answer within ${timeoutMs} ms`
          : `the ${service} could not be reached`,
        { cause },
      );
    }
  };
}

function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

async function* readBounded(
  response: Response,
  service: HttpService,
  most: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  if (response.body !== null) {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength;
      if (size > most) {
        throw createTooLarge(service, most);
      }
      yield chunk;
    }
  }
}

function createTooLarge(service: HttpService, most: number): PoolError {
  return new PoolError(
    `${service}_invalid_response`,
    `the ${service} answered with more than ${most} bytes`,
  );
}

async function readJson(
  chunks: AsyncIterable<Uint8Array>,
  service: HttpService,
  cut: Cut | undefined,
): Promise<unknown> {
  if (cut !== undefined) {
    return await readCutJson(chunks, cut, () => createTooLarge(service, maxKeptBytes));
  }
  const kept: Uint8Array[] = [];
  for await (const chunk of chunks) {
    kept.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(kept).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status <= 299;
}

/**
 * The content of a custodian's answer.
 * @throws PoolError `custodian_unreachable` (retryable) if it is not JSON: a proxy answered, or the answer was cut off;
 *   `custodian_invalid_response` for JSON of another form. Both without a value of the answer
 */
export function parseAnswer<TSchema extends v.GenericSchema>(
  schema: TSchema,
  { body }: HttpAnswer,
  what: string,
): v.InferOutput<TSchema> {
  if (body === undefined) {
    throw new PoolError(
      'custodian_unreachable',
      `the answer about ${what} is not JSON, so it is not the custodian's: something in between answered`,
    );
  }
  const result = v.safeParse(schema, body);
  if (!result.success) {
    throw new PoolError(
      'custodian_invalid_response',
      `the custodian's answer about ${what} does not have the documented form`,
    );
  }
  return result.output;
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
