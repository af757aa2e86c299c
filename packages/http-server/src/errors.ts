/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      cannot_listen:
        'The configured address or port is not free. Free it or configure another one.',
    },
  },
  {
    status: 405,
    meanings: {
      method_not_allowed: 'The request asked for a tunnel (CONNECT). Send the request itself.',
    },
  },
  {
    status: 408,
    retry: true,
    meanings: {
      request_timeout:
        'The request did not arrive in time. Send it again over a faster connection.',
    },
  },
  {
    status: 415,
    meanings: {
      unsupported_media_type:
        'The body is compressed, or not in UTF-8. Send it uncompressed, in UTF-8.',
    },
  },
  {
    status: 417,
    meanings: {
      expectation_failed:
        'The Expect header asks for something other than 100-continue. Remove it.',
    },
  },
  {
    status: 431,
    meanings: {
      headers_too_large:
        'Request line or headers are too large or too many. Send fewer or shorter ones.',
    },
  },
  {
    status: 500,
    meanings: {
      internal_error:
        "An unexpected error occurred. Report the request id; the service's log has the cause.",
    },
  },
] as const satisfies readonly ErrorGroup[];
