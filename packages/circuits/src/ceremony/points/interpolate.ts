/**
 * Interpolation on the roots of unity, in the order of the Lagrange bases of a powers-of-tau file.
 *
 * @module
 */
import { scalarFieldOrder } from '@pool/kernels';
import { invert, power } from '../../constraints/modular.ts';

const twoAdicity = 28;
const nonResidue = 5n;

/** The root of unity of order 2^exponent that defines the order of the bases. */
function rootOfUnity(exponent: number): bigint {
  const generator = power(
    nonResidue,
    (scalarFieldOrder - 1n) >> BigInt(twoAdicity),
    scalarFieldOrder,
  );
  return power(generator, 1n << BigInt(twoAdicity - exponent), scalarFieldOrder);
}

/**
 * Coefficients of the polynomial with these values on the 2^exponent-th roots of unity, lowest first (Cooley and Tukey, in place).
 */
export function interpolate(values: readonly bigint[], exponent: number): bigint[] {
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
    const step = invert(rootOfUnity(level), scalarFieldOrder);
    const twiddles: bigint[] = [1n];
    for (let i = 1; i < half; i++) {
      twiddles.push(((twiddles[i - 1] ?? 0n) * step) % scalarFieldOrder);
    }
    for (let start = 0; start < size; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const left = result[i] ?? 0n;
        const right = ((result[i + half] ?? 0n) * (twiddles[i - start] ?? 0n)) % scalarFieldOrder;
        result[i] =
          left + right < scalarFieldOrder ? left + right : left + right - scalarFieldOrder;
        result[i + half] = left < right ? left - right + scalarFieldOrder : left - right;
      }
    }
  }
  const scale = invert(BigInt(size), scalarFieldOrder);
  return result.map((value) => (value * scale) % scalarFieldOrder);
}
