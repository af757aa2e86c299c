/**
 * Codes of parsers and of the note cryptography: a value is not what its type promises.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const valueErrors = {
  invalid_hex: {
    status: 400,
    meaning: 'The value is not 0x and lower-case hex of the expected length. Correct its spelling.',
  },
  invalid_integer: {
    meaning: 'The integer is negative or does not fit its bytes. Correct the caller.',
  },
  invalid_json: {
    meaning:
      'The text has a duplicate key, deep nesting or no canonical form (RFC 8785). Correct what the message names.',
  },
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
  invalid_scalar: { meaning: 'The scalar is outside its range. Correct the caller.' },
  invalid_seed: {
    meaning:
      'A batch seed is not 32 bytes, or the entropy of a viewing key is not 48. Correct the caller.',
  },
  invalid_domain: { meaning: 'A domain is not 1 to 255 printable ASCII characters. Correct it.' },
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
  invalid_hash_arity: { meaning: 'The hash does not take that many elements. Correct the caller.' },
  invalid_batch_size: {
    meaning:
      'A batch holds a power of two of commitments, and this one does not. Correct the caller.',
  },
  invalid_path: {
    meaning: 'The membership path has the wrong length or index. Fetch the path again.',
  },
  invalid_leaf_index: { meaning: 'The tree has no leaf at that index. Correct the index.' },
  invalid_wallet_id: {
    meaning: "The wallet id is 0, which marks an empty leaf. Derive it from the wallet's key.",
  },
  duplicate_wallet: {
    meaning: 'The wallet is on the list at another position. Use that position.',
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
} as const satisfies ErrorEntries;
