/**
 * Arithmetic modulo a prime on BigInts, for a few values at a time. Not constant-time.
 *
 * @module
 */

/** value mod modulus, in 0..modulus-1 also for negative values. */
export function reduce(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** base^exponent mod modulus, exponent >= 0. */
export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) {
      result = (result * square) % modulus;
    }
    square = (square * square) % modulus;
  }
  return result;
}

/** The inverse of a value in 1..modulus-1, modulus prime (extended Euclid). */
export function invert(value: bigint, modulus: bigint): bigint {
  let [low, high] = [value, modulus];
  let [x, y] = [1n, 0n];
  while (low > 1n) {
    const quotient = high / low;
    [low, high] = [high - quotient * low, low];
    [x, y] = [y - quotient * x, x];
  }
  if (low === 0n) {
    throw new RangeError('zero has no inverse');
  }
  return reduce(x, modulus);
}
