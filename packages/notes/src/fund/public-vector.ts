/**
 * The challenge of a compressed public vector (protocol §5), as the contract computes it.
 *
 * @module
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import {
  assertField,
  bigintToBytes,
  type Field,
  fieldModulus,
  reduceToField,
  zeroField,
} from '@pool/core';

/**
 * z = keccak256(D ‖ x_0 ‖ … ) mod r over 32-byte words, and y = x_0 + z(x_1 + z(x_2 + …)). Public.
 * @param digest - D, which binds every element of x
 */
export function computeChallenge(digest: Field, x: readonly Field[]): { z: Field; y: Field } {
  const words = [digest, ...x].map((element) => bigintToBytes(element, 32));
  const z = reduceToField(keccak_256(concatBytes(...words)));
  const y = x.reduceRight(
    (sum, element) => assertField((element + z * sum) % fieldModulus),
    zeroField,
  );
  return { z, y };
}
