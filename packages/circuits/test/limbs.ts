/** Polynomials in 2^32, as the circom sources of the hidden signer use them; for tests only. */
import { R, sample } from './fund-batch.ts';

/** A circuit with one template of a file. */
export function mainOf(file: string, template: string): string {
  return `include "${file}";\ncomponent main = ${template};`;
}

/** `count` integers below 2^bits that look random. */
export function sampleLimbs(label: string, count: number, bits: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt.asUintN(bits, sample(`${label} ${i}`)));
}

/** Limbs of radix 2^32, least significant first. */
export function toLimbs(value: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt.asUintN(32, value >> BigInt(32 * i)));
}

/** The value of coefficients in radix 2^32; field elements above r/2 are negative. */
export function evaluate(coefficients: readonly bigint[]): bigint {
  return coefficients.reduceRight(
    (sum, value) => (sum << 32n) + (value > R / 2n ? value - R : value),
    0n,
  );
}
