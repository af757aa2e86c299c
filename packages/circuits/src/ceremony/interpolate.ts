/**
 * Interpolation on the roots of unity that order the Lagrange bases of a powers-of-tau file.
 *
 * @module
 */
import { FIELD_ORDER } from '../field.ts';
import { invert, power } from '../modular.ts';

const TWO_ADICITY = 28;
const NON_RESIDUE = 5n;

/** The root of unity of order 2^exponent that orders the bases. */
const rootOfUnity = (exponent: number): bigint => {
  const generator = power(NON_RESIDUE, (FIELD_ORDER - 1n) >> BigInt(TWO_ADICITY), FIELD_ORDER);
  return power(generator, 1n << BigInt(TWO_ADICITY - exponent), FIELD_ORDER);
};

/**
 * Coefficients of the polynomial with these values on the 2^exponent-th roots of unity, lowest first (Cooley and Tukey, in place).
 */
export const interpolate = (values: readonly bigint[], exponent: number): bigint[] => {
  const size = 2 ** exponent;
  const result = new Array<bigint>(size).fill(0n);
  for (const [index, value] of values.entries()) {
    let reversed = 0;
    for (let bit = 0; bit < exponent; bit++) {
      reversed = 2 * reversed + ((index >> bit) & 1);
    }
    result[reversed] = value;
  }
  for (let level = 1; level <= exponent; level++) {
    const half = 2 ** (level - 1);
    const step = invert(rootOfUnity(level), FIELD_ORDER);
    const twiddles: bigint[] = [1n];
    for (let i = 1; i < half; i++) {
      twiddles.push(((twiddles[i - 1] ?? 0n) * step) % FIELD_ORDER);
    }
    for (let start = 0; start < size; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const left = result[i] ?? 0n;
        const right = ((result[i + half] ?? 0n) * (twiddles[i - start] ?? 0n)) % FIELD_ORDER;
        result[i] = left + right < FIELD_ORDER ? left + right : left + right - FIELD_ORDER;
        result[i + half] = left < right ? left - right + FIELD_ORDER : left - right;
      }
    }
  }
  const scale = invert(BigInt(size), FIELD_ORDER);
  return result.map((value) => (value * scale) % FIELD_ORDER);
};
