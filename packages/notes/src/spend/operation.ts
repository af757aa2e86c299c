/**
 * What a spend does in public, and the digest that the holder signs (protocol §6, §7). Vectors: vectors/spend.json.
 *
 * @module
 */
import {
  type AssetId,
  assertAmount,
  assertField,
  bigintToBytes,
  bytesToBigint,
  type EvmAddress,
  type Field,
  type Hex32,
  hexToBigint,
  PoolError,
  type SpendCircuit,
  spendShapes,
  splitHalves,
} from '@pool/core';
import { computeChainHash, poseidon } from '../hash/poseidon.ts';
import { operationTag, operationTags } from '../hash/tags.ts';

/** Bytes of the salt: 248 bits. */
export const spendSaltBytes = 31;

/** The public part of a spend that its signature binds. */
export type SpendOperation = {
  readonly circuit: SpendCircuit;
  readonly assetId: AssetId;
  /** Base units that leave the pool; 0 for a transfer. */
  readonly withdrawAmount: bigint;
  /** Receives the withdrawal. Undefined for a transfer. */
  readonly recipient: EvmAddress | undefined;
  /** Unix seconds. */
  readonly deadline: number;
  /** keccak256 of all sealed notes in slot order. */
  readonly sealedNotesHash: Hex32;
  /** Root of the binary tree over the output commitments. */
  readonly outRoot: Field;
  /** One for each input of the circuit, dummies included. */
  readonly nullifiers: readonly Field[];
};

/**
 * assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, outRoot, nf_0 … nf_{I-1}: the beginning of x.
 * @throws PoolError `invalid_request` (the number of nullifiers is not the circuit's), `invalid-amount`, `invalid_field_element`,
 *   `invalid_value` (the deadline is not a whole number of seconds below 2^48)
 */
export function listOperationElements(operation: SpendOperation): Field[] {
  const { circuit, assetId, withdrawAmount, recipient, deadline, outRoot, nullifiers } = operation;
  const { inputs } = spendShapes[circuit];
  if (nullifiers.length !== inputs) {
    throw new PoolError(
      'invalid_request',
      `a spend with ${circuit} has ${inputs} nullifiers, one for each input`,
    );
  }
  if (!Number.isSafeInteger(deadline)) {
    throw new PoolError('invalid_value', 'the deadline must be a whole number of seconds');
  }
  const sealed = splitHalves(hexToBigint(operation.sealedNotesHash));
  return [
    assetId,
    assertAmount(withdrawAmount),
    recipient === undefined ? 0n : hexToBigint(recipient.toLowerCase()),
    bytesToBigint(bigintToBytes(BigInt(deadline), 6)),
    sealed.lo,
    sealed.hi,
    outRoot,
    ...nullifiers,
  ].map(assertField);
}

/** opHash = HC(tag of the circuit; elements of the operation). Public. @throws like {@link listOperationElements} */
export function computeOperationHash(operation: SpendOperation): Field {
  return computeChainHash(operationTags[operation.circuit], listOperationElements(operation));
}

/**
 * m = H_3(TAG_OPERATION, opHash, salt), which the holder signs as 32 bytes big-endian. Whoever knows the salt of a spend can test
 * which wallet made it.
 *
 * @param salt - 31 random bytes, as secret as W; never used for two operations
 * @returns m, secret
 * @throws PoolError `invalid_value` for a salt of another length; like {@link listOperationElements}
 */
export function computeSpendDigest(operation: SpendOperation, salt: Uint8Array): Field {
  if (salt.length !== spendSaltBytes) {
    throw new PoolError('invalid_value', `the salt of a spend must be ${spendSaltBytes} bytes`);
  }
  return poseidon([operationTag, computeOperationHash(operation), bytesToBigint(salt)]);
}
