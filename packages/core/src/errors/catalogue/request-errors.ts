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
    meaning: 'The request is malformed or has an unknown field. Correct what the message names.',
  },
  unauthorized: {
    status: 401,
    meaning:
      'The credential is missing, unknown, expired or revoked. Sign in again or use a live key.',
  },
  forbidden: {
    status: 403,
    meaning: 'The credential does not reach this route. Use one with its capability or scope.',
  },
  forbidden_host: {
    status: 403,
    meaning: 'The service does not answer to this Host header. Call it by a configured host name.',
  },
  forbidden_origin: {
    status: 403,
    meaning:
      'A page of this Origin may not call the service. Call it from a server or an allowed origin.',
  },
  not_found: { exit: 2, status: 404, meaning: 'Nothing has that name. Check the key, id or path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The request asked for a tunnel (CONNECT). Send the request itself.',
  },
  request_timeout: {
    status: 408,
    retry: true,
    meaning: 'The request did not arrive in time. Send it again over a faster connection.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than the route accepts. Split it.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is compressed, or not in UTF-8. Send it uncompressed, in UTF-8.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The Expect header asks for something other than 100-continue. Remove it.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'Request line or headers are too large or too many. Send fewer or shorter ones.',
  },
  rate_limited: {
    status: 429,
    retry: true,
    meaning: 'The caller sends more requests than its limit allows. Wait for Retry-After.',
  },
  internal_error: {
    status: 500,
    meaning:
      "An unexpected error occurred. Report the request id; the service's log has the cause.",
  },
  disk_full: {
    status: 503,
    retry: true,
    meaning: 'The disk of the named file is full. Make room on it.',
  },
  stopping: {
    status: 503,
    retry: true,
    meaning:
      'The service is stopping; an accepted job continues later. Send the request again after Retry-After.',
  },
  timed_out: {
    status: 503,
    retry: true,
    meaning:
      'A step took longer than its limit. Send the request again; if it repeats, look at the named service.',
  },
} as const satisfies ErrorEntries;
