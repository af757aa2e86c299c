/**
 * WGSL text that cuts a U256 into digits of any width and puts digits together again. Used by the multipliers.
 *
 * @module
 */

/** A WGSL literal. */
export function literal(value: bigint | number): string {
  return `0x${value.toString(16)}u`;
}

/** Digits of a constant, lowest first. */
export function splitConstant(value: bigint, width: number, count: number): readonly bigint[] {
  const mask = (1n << BigInt(width)) - 1n;
  return Array.from({ length: count }, (_, k) => (value >> BigInt(width * k)) & mask);
}

/** -1/modulus mod 2^bits; the modulus is odd. */
export function negativeInverse(modulus: bigint, bits: number): bigint {
  const size = 1n << BigInt(bits);
  let inverse = 1n;
  // Newton's iteration doubles the number of correct bits.
  for (let correct = 1; correct < bits; correct *= 2) {
    inverse = (inverse * (2n - modulus * inverse)) % size;
  }
  return ((-inverse % size) + size) % size;
}

/** Expression of digit k of the U256 called `name`. */
export function digitExpression(name: string, width: number, k: number): string {
  const bit = width * k;
  const word = Math.floor(bit / 32);
  const shift = bit % 32;
  if (word > 7) return '0u';
  const low = shift === 0 ? `${name}[${word}]` : `(${name}[${word}] >> ${shift}u)`;
  if (shift + width === 32) return low;
  const mask = literal((1n << BigInt(width)) - 1n);
  if (shift + width < 32 || word === 7) return `${low} & ${mask}`;
  return `(${low} | (${name}[${word + 1}] << ${32 - shift}u)) & ${mask}`;
}

/** Expression of the eight words whose digits are the given expressions, each already below 2^width. */
export function packExpression(digits: readonly string[], width: number): string {
  const words = Array.from({ length: 8 }, (_, word) => {
    const parts: string[] = [];
    digits.forEach((digit, k) => {
      const shift = width * k - 32 * word;
      if (shift <= -width || shift >= 32) return;
      if (shift === 0) parts.push(digit);
      else if (shift > 0) parts.push(`(${digit} << ${shift}u)`);
      else parts.push(`(${digit} >> ${-shift}u)`);
    });
    return parts.join(' | ');
  });
  return `U256(${words.join(', ')})`;
}
