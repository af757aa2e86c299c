/**
 * Codes of parsers and of the note cryptography: a value is not what its type promises.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const valueErrors = {
  invalid_hex: { status: 400, meaning: 'Not lower-case hex with 0x of the expected length.' },
  invalid_integer: { meaning: 'The integer is negative or does not fit the bytes it has.' },
  invalid_json: { meaning: 'The value has no canonical JSON form.' },
  invalid_field_element: {
    status: 400,
    meaning: 'The integer is not below the order of the scalar field.',
  },
  invalid_wallet_pub: { status: 400, meaning: 'Not a compressed public key of the curve.' },
  invalid_encryption_key: {
    status: 400,
    meaning: 'Not a packed Baby Jubjub point of the prime-order subgroup.',
  },
  invalid_viewing_key: { meaning: 'The viewing key is not a scalar in its range.' },
  invalid_scalar: { meaning: 'The scalar is outside its range.' },
  invalid_seed: { meaning: 'A batch seed is 32 bytes.' },
  invalid_domain: { meaning: 'A domain is 1 to 255 printable ASCII characters.' },
  invalid_signature: {
    status: 400,
    meaning: 'The signature is malformed or is not by the expected key.',
  },
  invalid_sign_in: {
    status: 400,
    meaning: 'The sign-in text is malformed, expired, or not for this service.',
  },
  invalid_evidence: {
    meaning: 'The sign-in evidence does not bind the encryption key to the wallet.',
  },
  invalid_hash_arity: { meaning: 'The hash does not take that many elements.' },
  invalid_batch_size: { meaning: 'A batch holds a power of two of commitments.' },
  invalid_path: { meaning: 'The membership path has the wrong length or index.' },
  invalid_leaf_index: { meaning: 'The tree has no leaf at that index.' },
  invalid_wallet_id: { meaning: 'Wallet id 0 marks an empty leaf.' },
  duplicate_wallet: { meaning: 'The wallet is on the list at another position.' },
  unknown_leaf: { meaning: 'The tree has no leaf there.' },
  tree_full: { status: 503, meaning: 'The tree has no empty leaf left.' },
  wallet_mismatch: {
    status: 403,
    meaning: 'The wallet key does not belong to the address, or not to the session.',
  },
} as const satisfies ErrorEntries;
