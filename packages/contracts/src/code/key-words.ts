/**
 * A Groth16 verification key as the 22 words that a verifier contract holds.
 *
 * @module
 */
import { bigintToHex32, PoolError } from '@pool/core';
import { developmentKeyWords } from '../generated/development-keys.ts';

/** As `verification-key.json` has it, in the form of snarkjs. Public. */
export type CircuitKey = {
  readonly protocol: string;
  readonly curve: string;
  readonly nPublic: number;
  readonly vk_alpha_1: readonly string[];
  readonly vk_beta_2: readonly (readonly string[])[];
  readonly vk_gamma_2: readonly (readonly string[])[];
  readonly vk_delta_2: readonly (readonly string[])[];
  readonly IC: readonly (readonly string[])[];
};

const baseModulus = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n;

/** Places of alpha, beta and delta among the words. A later contribution changes delta only. */
const secretParts = [
  [0, 2],
  [2, 6],
  [10, 14],
] as const;

/**
 * Alpha, beta, gamma, delta and the four points of IC, each word as `0x` hex.
 * @throws PoolError `verification_key_malformed`
 */
export function parseKeyWords(key: CircuitKey): readonly string[] {
  try {
    if (key.protocol !== 'groth16' || key.curve !== 'bn128') throw malformed();
    if (key.nPublic !== 3 || key.IC.length !== 4) throw malformed();
    return [
      ...parseG1(key.vk_alpha_1),
      ...[key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].flatMap(parseG2),
      ...key.IC.flatMap(parseG1),
    ].map(bigintToHex32);
  } catch (cause) {
    throw malformed(cause);
  }
}

/** True if the key shares a secret with a development key, whose secrets are public: anyone can forge proofs under it. */
export function isOfDevelopmentSetup(words: readonly string[]): boolean {
  return Object.values(developmentKeyWords).some((known) =>
    secretParts.some(([from, to]) =>
      words.slice(from, to).every((word, index) => word === known[from + index]),
    ),
  );
}

/** True if nobody contributed: delta is still gamma, and anyone can forge proofs. */
export function hasNoContribution(words: readonly string[]): boolean {
  return words.slice(6, 10).every((word, index) => word === words[10 + index]);
}

function malformed(cause?: unknown): PoolError {
  return new PoolError(
    'verification_key_malformed',
    'The verification key is not a Groth16 key over BN254 with three public inputs. Export it again with `pool-circuits ceremony export-verifier`.',
    { cause },
  );
}

function parseCoordinate(value: string | undefined): bigint {
  if (value === undefined || !/^\d+$/.test(value)) throw malformed();
  const coordinate = BigInt(value);
  if (coordinate >= baseModulus) throw malformed();
  return coordinate;
}

function parseG1([x, y, z]: readonly string[]): bigint[] {
  if (z !== '1') throw malformed();
  return [parseCoordinate(x), parseCoordinate(y)];
}

/** The EVM's pairing precompile expects the imaginary part first; snarkjs writes the real part first. */
function parseG2([x, y, z]: readonly (readonly string[])[]): bigint[] {
  if (z?.[0] !== '1' || z[1] !== '0') throw malformed();
  return [x?.[1], x?.[0], y?.[1], y?.[0]].map(parseCoordinate);
}
