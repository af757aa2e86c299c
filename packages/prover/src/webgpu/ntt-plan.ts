/**
 * How a number-theoretic transform of 2^bits elements is cut into passes over tiles that fit the memory of a workgroup, and the roots
 * of unity that it uses. Pure arithmetic.
 *
 * @module
 */
import { SCALAR_FIELD_MODULUS } from './field.ts';

const TWO_ADICITY = 28;
/** The smallest number that is no square modulo r: what ffjavascript, and so every snarkjs key, takes its roots from. */
const NON_RESIDUE = 5n;
/** The odd coset needs a root of twice the domain's size. */
export const MOST_DOMAIN_BITS = TWO_ADICITY - 1;
const ELEMENT_BYTES = 32;

const power = (base: bigint, exponent: bigint, modulus: bigint): bigint => {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
};

/** A root of unity of order 2^bits in the scalar field. */
export const rootOfUnity = (bits: number): bigint =>
  power(NON_RESIDUE, (SCALAR_FIELD_MODULUS - 1n) >> BigInt(bits), SCALAR_FIELD_MODULUS);

/**
 * One pass: a tile holds the elements whose indexes differ in bits low … low+bits-1 and in the lowest `run` ones, so that memory is
 * read in runs of 2^run elements.
 */
export type NttPass = { readonly low: number; readonly bits: number; readonly run: number };

/** Passes from the highest bits of the index down; the last one has low = 0. */
export const planPasses = (domainBits: number, workgroupBytes: number): readonly NttPass[] => {
  const tileBits = Math.floor(Math.log2(workgroupBytes / ELEMENT_BYTES));
  const count = Math.max(1, Math.ceil(domainBits / tileBits));
  const passes: NttPass[] = [];
  let left = domainBits;
  for (let pass = 0; pass < count; pass++) {
    const bits = Math.ceil(left / (count - pass));
    left -= bits;
    passes.push({ low: left, bits, run: Math.min(left, tileBits - bits) });
  }
  return passes;
};
