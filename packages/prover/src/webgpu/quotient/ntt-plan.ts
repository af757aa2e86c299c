/**
 * How a number-theoretic transform of 2^bits elements is cut into passes over tiles that fit the memory of a workgroup, and the roots
 * of unity that it uses. Pure arithmetic.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { scalarFieldOrder } from '../../base/field.ts';

const twoAdicity = 28;
/** The smallest number that is not a square modulo r: ffjavascript, and so every snarkjs key, derives its roots from it. */
const nonResidue = 5n;
/** The odd coset needs a root of twice the domain's size. */
export const mostDomainBits = twoAdicity - 1;
const elementBytes = 32;

/** A root of unity of order 2^bits in the scalar field. */
export function rootOfUnity(bits: number): bigint {
  return bn254.fields.Fr.pow(nonResidue, (scalarFieldOrder - 1n) >> BigInt(bits));
}

/**
 * One pass: a tile holds the elements whose indexes differ in bits low … low+bits-1 and in the lowest `run` ones, so that memory is
 * read in runs of 2^run elements.
 */
export type NttPass = { readonly low: number; readonly bits: number; readonly run: number };

/** Passes from the highest bits of the index down; the last one has low = 0. */
export function planPasses(domainBits: number, workgroupBytes: number): readonly NttPass[] {
  const tileBits = Math.floor(Math.log2(workgroupBytes / elementBytes));
  const count = Math.max(1, Math.ceil(domainBits / tileBits));
  const passes: NttPass[] = [];
  let left = domainBits;
  for (let pass = 0; pass < count; pass++) {
    const bits = Math.ceil(left / (count - pass));
    left -= bits;
    passes.push({ low: left, bits, run: Math.min(left, tileBits - bits) });
  }
  return passes;
}
