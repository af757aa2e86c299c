/**
 * Codes of parsers and of the note cryptography: a value is not what its type promises.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const valueErrors = {
  invalid_field_element: {
    status: 400,
    meaning: "The integer is not below the scalar field's order. Reduce or correct it.",
  },
  invalid_wallet_pub: {
    status: 400,
    meaning:
      'The value is no compressed public key of the curve. Send W as `disburse-agent identity` prints it.',
  },
  invalid_encryption_key: {
    status: 400,
    meaning:
      'The value is no packed Baby Jubjub point of the prime-order subgroup. Send P as the wallet derives it.',
  },
  invalid_viewing_key: {
    meaning: 'The viewing key is not a scalar in its range. Restore the key as it was generated.',
  },
  invalid_signature: {
    status: 400,
    meaning:
      'The signature is malformed or by another key. Sign exactly the given text with the expected key.',
  },
  invalid_sign_in: {
    status: 400,
    meaning:
      'The sign-in text is malformed, expired or for another service. Ask for a nonce and sign a new text.',
  },
  invalid_evidence: {
    meaning:
      'The evidence does not bind the encryption key to the wallet. Sign in again with a text that lists the key.',
  },
  unknown_leaf: { status: 404, meaning: 'The tree has no leaf there. Correct the index.' },
  tree_full: {
    status: 503,
    retry: true,
    meaning: 'The tree has no empty leaf. Remove a wallet, or wait until the operator has.',
  },
  wallet_mismatch: {
    status: 403,
    meaning:
      'The wallet key is not that of the address or session. Sign in with the wallet itself.',
  },
  invalid_value: {
    status: 400,
    meaning: 'A value is not of the form, length or range that the message names. Correct it.',
  },
} as const satisfies ErrorEntries;
