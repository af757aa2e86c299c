/**
 * Codes of core itself, of the service's contract and of every request. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from './errors/pool-error.ts';

export const errors = [
  {
    meanings: {
      invalid_configuration:
        'A variable of the configuration, or the file it names, is missing or malformed. Correct the named variables.',
      invalid_evidence:
        'The evidence does not bind the encryption key to the wallet. Sign in again with a text that lists the key.',
    },
  },
  {
    status: 400,
    meanings: {
      invalid_field_element:
        "The integer is not below the scalar field's order. Reduce or correct it.",
      invalid_wallet_pub:
        'The value is no compressed public key of the curve. Send W as `disburse-agent identity` prints it.',
      invalid_signature:
        'The signature is malformed or by another key. Sign exactly the given text with the expected key.',
      invalid_sign_in:
        'The sign-in text is malformed, expired or for another service. Ask for a nonce and sign a new text.',
      invalid_value:
        'A value is not of the form, length or range that the message names. Correct it.',
    },
  },
  {
    status: 400,
    exit: 2,
    meanings: {
      'invalid-chain':
        "The chain is unknown, has no pool or has no funder signer. Use a chain of the agent's chains.json.",
      'invalid-token':
        'The token is no pool symbol of the chain. Use a listed symbol, never an address.',
      'batch-too-large':
        "The call has more recipients than the chain's limit. Split it into calls with a key each.",
      'invalid-amount':
        'An amount or the sum is not a whole number from 1 to 2^128 - 1. Correct the named amount.',
      'invalid-address': 'An address does not parse for its chain. Correct the named address.',
      'duplicate-recipient': 'A recipient appears twice in one call. Merge the two entries.',
      'unregistered-recipient':
        'A recipient is not enrolled or eligible. Ask the recipient to enrol, or use `unregistered: skip`.',
      invalid_request:
        'The request is malformed or has an unknown field. Correct what the message names.',
      unknown_token:
        "The token is no pool symbol of the holder's chain. Use a listed symbol, never an address.",
      unpinned_destination:
        'The destination is no label of DISBURSE_SEND_DESTINATIONS. Use a listed label, never an address.',
    },
  },
  {
    status: 401,
    meanings: {
      unauthorized:
        'The credential is missing, unknown, expired or revoked. Sign in again or use a live key.',
    },
  },
  {
    status: 403,
    meanings: {
      forbidden: 'The credential does not reach this route. Use one with its capability or scope.',
      forbidden_host:
        'The service does not answer to this Host header. Call it by a configured host name.',
      forbidden_origin:
        'A page of this Origin may not call the service. Call it from a server or an allowed origin.',
    },
  },
  {
    status: 403,
    exit: 2,
    meanings: {
      ceiling_exceeded:
        "The sum is above the role's ceiling. Raise it in the agent's configuration, or split the spend.",
    },
  },
  {
    status: 404,
    exit: 2,
    meanings: {
      not_found: 'Nothing has that name. Check the key, id or path.',
    },
  },
  {
    status: 409,
    exit: 2,
    meanings: {
      idempotency_conflict:
        'The Idempotency-Key was used for another request. Find out what that one paid.',
    },
  },
  {
    status: 409,
    exit: 6,
    meanings: {
      insufficient_funds:
        'The free notes do not cover the amount. Read `spendable`, `locked` and `lockedUntil`.',
    },
  },
  {
    status: 413,
    meanings: {
      payload_too_large: 'The body is larger than the route accepts. Split it.',
    },
  },
  {
    status: 429,
    retry: true,
    meanings: {
      rate_limited: 'The caller sends more requests than its limit allows. Wait for Retry-After.',
    },
  },
  {
    status: 503,
    meanings: {
      platform_invalid_response:
        "The platform's answer does not fit this version. Check DISBURSE_PLATFORM_URL and both versions.",
      edge_token_refused:
        "The platform refuses the agent's edge token. Mint a new one and set DISBURSE_PLATFORM_TOKEN.",
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      platform_unreachable:
        'The platform does not answer. Check DISBURSE_PLATFORM_URL and the network.',
      disk_full: 'The disk of the named file is full. Make room on it.',
      stopping:
        'The service is stopping; an accepted job continues later. Send the request again after Retry-After.',
    },
  },
] as const satisfies readonly ErrorGroup[];
