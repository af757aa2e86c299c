/**
 * Requests that are refused before any route: those that the parser rejects, and those that two readers could understand
 * differently. One suite of raw requests tests every service (`@pool/testkit/raw-http`).
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@pool/core';
import { createAnswerHeaders, defaultRetryAfterSeconds } from './answer-headers.ts';
import { isHost } from './host-name.ts';

export type Refusal = {
  readonly status: 400 | 405 | 408 | 415 | 417 | 431 | 500 | 503;
  readonly code: ErrorCode;
  readonly message: string;
};

/** Called for every refusal, for the log. It receives nothing of the request. */
export type OnRefused = (
  refused: Omit<Refusal, 'message'> & { readonly requestId: string },
) => void;

const unreadable = refuse(
  400,
  'invalid_request',
  'the request cannot be read: check the request line, the Host header and how the body is framed',
);
const tooManyHeaders = refuse(
  431,
  'headers_too_large',
  'the request line and the headers are too large or too many',
);
const tooSlow = refuse(408, 'request_timeout', 'the request did not arrive in time; send it again');

export const refusals = {
  unreadable,
  unexpected: refuse(500, 'internal_error', 'an unexpected error; see the log'),
  noTunnel: refuse(405, 'method_not_allowed', 'this server opens no tunnels'),
  noExpectation: refuse(417, 'expectation_failed', 'the only supported Expect is 100-continue'),
  stopping: refuse(503, 'stopping', 'this server is stopping; try again shortly'),
} as const;

function refuse(status: Refusal['status'], code: ErrorCode, message: string): Refusal {
  return { status, code, message };
}

/**
 * Headers that determine the request and its caller. Of a header that occurs twice, one reader takes the first value,
 * another the last or both: such a request is refused.
 */
const onceOnly = new Set([
  'host',
  'authorization',
  'idempotency-key',
  'cookie',
  'origin',
  'content-type',
  'content-length',
  'transfer-encoding',
]);

/** @returns why a parsed request is refused; undefined: the routes answer it */
export function findRefusal(
  request: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'url'>,
  maxHeaders: number,
): Refusal | undefined {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * maxHeaders) {
    return tooManyHeaders;
  }
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (onceOnly.has(name) && seen.has(name)) {
      return refuse(400, 'invalid_request', `send the header ${name} only once`);
    }
    seen.add(name);
  }
  const { host } = request.headers;
  return host === undefined || !isHost(host) ? unreadable : findCodingRefusal(request.headers);
}

/** Bodies are read uncompressed and as UTF-8. Without this check, others would be refused as not JSON, which explains nothing. */
function findCodingRefusal({
  'content-encoding': encoding = 'identity',
  'content-type': type = '',
}: IncomingMessage['headers']): Refusal | undefined {
  if (!/^\s*identity\s*$/i.test(encoding)) {
    return refuse(
      415,
      'unsupported_media_type',
      'a body is read uncompressed only: send it without Content-Encoding',
    );
  }
  const charsets = [...type.matchAll(/;\s*charset\s*=\s*"?([^";]*)/gi)].map(([, name]) => name);
  return charsets.every((name = '') => /^utf-?8\s*$/i.test(name))
    ? undefined
    : refuse(
        415,
        'unsupported_media_type',
        'a body is read as UTF-8 only: encode it as UTF-8, and remove the charset from Content-Type or set it to utf-8',
      );
}

/**
 * Path and query of a request target. The absolute form must name the same host as the Host header: otherwise the checks
 * would use one name and the routes another.
 */
export function readTarget(target: string | undefined, host: string): string | undefined {
  if (target?.startsWith('/') === true) {
    return target;
  }
  const [start, authority] = /^https?:\/\/([^/?#\\]+)(?=\/|$)/i.exec(target ?? '') ?? [];
  return start !== undefined && authority?.toLowerCase() === host.toLowerCase()
    ? target?.slice(start.length) || '/'
    : undefined;
}

/** The refusal for a failure of the parser or of its timer; undefined: the connection broke, and no client is left. */
export function findRefusalOfFailure(error: unknown): Refusal | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return tooManyHeaders;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return tooSlow;
    default:
      return code.startsWith('HPE_') ? unreadable : undefined;
  }
}

/** Answers through the response, and closes the connection: what follows on it cannot be trusted. */
export function answerRefusal(
  response: ServerResponse,
  refusal: Refusal,
  onRefused: OnRefused,
): void {
  const { body, headers } = render(refusal, onRefused);
  response.writeHead(refusal.status, headers);
  response.end(body);
}

/** How long a refused client may take to read the answer. */
const lingerMs = 500;

/** The same on the bare socket, where the parser rejected the request and there is no response. */
export function endWithRefusal(socket: Duplex, refusal: Refusal, onRefused: OnRefused): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { body, headers } = render(refusal, onRefused);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`;
  socket.end([statusLine, ...lines, '', body].join('\r\n'));
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** The same as a `Response`, for a failure between the server and the routes. */
export function createRefusalResponse(refusal: Refusal, onRefused: OnRefused): Response {
  const { body, headers } = render(refusal, onRefused);
  return new Response(body, { status: refusal.status, headers });
}

function render(
  { status, code, message }: Refusal,
  onRefused: OnRefused,
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const requestId = randomUUID();
  onRefused({ requestId, code, status });
  const body = JSON.stringify({ code, message });
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...createAnswerHeaders(requestId),
      ...(status === 503 ? { 'retry-after': String(defaultRetryAfterSeconds) } : {}),
      connection: 'close',
    },
  };
}
