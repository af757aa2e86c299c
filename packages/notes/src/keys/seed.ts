/**
 * All randomness of a batch, derived from one seed (protocol §3, "One manifest, one seed"): output = HKDF-SHA256 (RFC 5869)(ikm = seed, salt
 * = manifest digest, info = label ‖ u32 index big-endian), 48 bytes read big-endian. vectors/fund-batch.json and vectors/spend.json
 * freeze the labels: another label gives another batch or spend.
 *
 * @module
 */
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  assertField,
  bigintToBytes,
  bytesToBigint,
  type Field,
  fieldModulus,
  type Hex32,
  hexToBytes,
  PoolError,
} from '@pool/core';
import { subgroupOrder } from './baby-jubjub.ts';

/** What a manifest describes: a batch or a spend. */
export type SeedKind = 'fund' | 'spend';

/**
 * The purpose of a derived value. `index` counts slots, except for `secret`, `salt` and `blinding` (0), `permutation` (a step) and
 * `dummy-nonce` (an input).
 */
export type SeedLabel =
  | `pool/v1/${SeedKind}/${'secret' | 'permutation' | 'ephemeral' | 'dummy-wallet' | 'dummy-key'}`
  | `pool/v1/spend/${'salt' | 'blinding' | 'dummy-nonce'}`;

/** Derives the random values of one manifest. All results are secret. */
export type SeedSource = {
  /** In [0, r). */
  deriveField(label: SeedLabel, index: number): Field;
  /** In [1, l). */
  deriveScalar(label: SeedLabel, index: number): bigint;
  /** In [0, bound), with a bias below bound / 2^384. */
  deriveBelow(label: SeedLabel, index: number, bound: number): number;
  /** `length` bytes, at most 48. */
  deriveBytes(label: SeedLabel, index: number, length: number): Uint8Array;
};

/**
 * @param seed - 32 random bytes, fresh for each manifest, secret
 * @param manifestDigest - SHA-256 of the canonical manifest
 * @throws PoolError `invalid_value`
 */
export function createSeedSource(seed: Uint8Array, manifestDigest: Hex32): SeedSource {
  if (seed.length !== 32) {
    throw new PoolError('invalid_value', 'a batch seed must be 32 bytes');
  }
  const salt = hexToBytes(manifestDigest, 32);
  const deriveBytes = (label: SeedLabel, index: number, length: number): Uint8Array => {
    const info = concatBytes(utf8ToBytes(label), bigintToBytes(BigInt(index), 4));
    return hkdf(sha256, seed, salt, info, length);
  };
  const derive = (label: SeedLabel, index: number): bigint =>
    bytesToBigint(deriveBytes(label, index, 48));
  return {
    deriveField: (label, index) => assertField(derive(label, index) % fieldModulus),
    deriveScalar: (label, index) => 1n + (derive(label, index) % (subgroupOrder - 1n)),
    deriveBelow: (label, index, bound) => Number(derive(label, index) % BigInt(bound)),
    deriveBytes,
  };
}

/**
 * Fisher–Yates over 0 … size-1: for i from size-1 down to 1, swap position i with position `deriveBelow(i + 1)`.
 * @returns the slot of each recipient in manifest order, followed by the slots of the dummies
 */
export function deriveSlotOrder(
  source: SeedSource,
  size: number,
  kind: SeedKind = 'fund',
): number[] {
  const slots = Array.from({ length: size }, (_, slot) => slot);
  for (let i = size - 1; i > 0; i -= 1) {
    const j = source.deriveBelow(`pool/v1/${kind}/permutation`, i, i + 1);
    [slots[i], slots[j]] = [slots[j] ?? 0, slots[i] ?? 0];
  }
  return slots;
}
