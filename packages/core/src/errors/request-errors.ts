/**
 * Codes that any service answers before it looks at what a request is about.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const requestErrors = {
  invalid_request: {
    exit: 2,
    status: 400,
    meaning:
      'The body, query or a header is malformed or has a field that the route does not take.',
  },
  unauthorized: { status: 401, meaning: 'The credential is missing, unknown, expired or revoked.' },
  forbidden: { status: 403, meaning: 'The credential is good and does not reach this route.' },
  forbidden_host: {
    status: 403,
    meaning: 'The Host header is not one that this service answers to.',
  },
  forbidden_origin: { status: 403, meaning: 'The Origin of a browser is not allowed here.' },
  not_found: { exit: 2, status: 404, meaning: 'There is nothing of that name.' },
  method_not_allowed: { status: 405, meaning: 'The server opens no tunnels.' },
  request_timeout: { status: 408, retry: true, meaning: 'The request did not arrive in time.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than the route takes.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is compressed, or in a charset other than UTF-8.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The only Expect that the server meets is 100-continue.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request line and the headers are too large or too many.',
  },
  rate_limited: {
    status: 429,
    retry: true,
    meaning:
      'The caller asks more often than its limit allows; Retry-After says when to ask again.',
  },
  internal_error: {
    status: 500,
    meaning: 'An unexpected error; the log of the service has its cause under the request id.',
  },
  stopping: { status: 503, retry: true, meaning: 'The server is stopping.' },
  timed_out: { status: 503, retry: true, meaning: 'A step took longer than it may.' },
} as const satisfies ErrorEntries;
