// The curve's two prime fields (BN254, EIP-196), and arithmetic on BigInt for constants at build time.

/** The base field: coordinates of points. */
export const baseModulus =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;
/** The scalar field: the order of G1 and G2. */
export const scalarModulus =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;

export function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = modulo(base, modulus);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** The inverse modulo a prime, or of an odd number modulo a power of two. */
export function invert(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [modulo(value, modulus), modulus, 1n, 0n];
  while (a > 1n) {
    if (b === 0n) throw new Error('no inverse');
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return modulo(x, modulus);
}

/** Bits of a limb of the memory format. */
const limbBits = 51n;
export const limbCount = 5;

/** Five limbs in [-2^50, 2^50), except the last, which contains the sign and the rest. */
export function splitBalanced(value: bigint): bigint[] {
  const limbs: bigint[] = [];
  let rest = value;
  for (let index = 0; index < limbCount - 1; index++) {
    const limb = BigInt.asIntN(Number(limbBits), rest);
    limbs.push(limb);
    rest = (rest - limb) >> limbBits;
  }
  limbs.push(rest);
  return limbs;
}
