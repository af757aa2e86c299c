/**
 * The secrets of the dev setup (protocol §9), which are not secret: anyone can derive them from a public seed and forge proofs
 * with them. This is intended: every machine regenerates the same key, and no large key is committed.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';

const { Fr } = bn254.fields;

/** Trapdoor of a Groth16 key, each in 1..r-1. Public here; toxic waste in a ceremony. */
export type ToxicValues = {
  readonly tau: bigint;
  readonly alpha: bigint;
  readonly beta: bigint;
  readonly gamma: bigint;
  readonly delta: bigint;
};

/**
 * Hash to field: SHA-512 of label, seed and a counter, mod r (512 bits leave no relevant bias). The counter is incremented
 * while the value is refused.
 */
export function hashToField(
  seed: string,
  label: string,
  isRefused: (value: bigint) => boolean,
): bigint {
  for (let counter = 0; ; counter++) {
    const digest = createHash('sha512')
      .update(JSON.stringify(['pool/v1/insecure-dev-setup', label, seed, counter]))
      .digest('hex');
    const value = BigInt(`0x${digest}`) % Fr.ORDER;
    if (value !== 0n && !isRefused(value)) {
      return value;
    }
  }
}

/**
 * Derives the five values. Refused: 0; a tau inside the evaluation domain or its coset (there the Lagrange basis divides by zero);
 * delta = gamma (with it public inputs could be moved into the private part of a proof).
 * @param seed public text
 * @param domainSize power of two; the basis is taken over domains of this size and of twice this size
 */
export function deriveToxicValues(seed: string, domainSize: number): ToxicValues {
  const never = () => false;
  const inDomain = (value: bigint) => Fr.pow(value, BigInt(2 * domainSize)) === 1n;
  const gamma = hashToField(seed, 'gamma', never);
  return {
    tau: hashToField(seed, 'tau', inDomain),
    alpha: hashToField(seed, 'alpha', never),
    beta: hashToField(seed, 'beta', never),
    gamma,
    delta: hashToField(seed, 'delta', (value) => value === gamma),
  };
}
