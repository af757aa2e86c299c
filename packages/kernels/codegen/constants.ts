// The curve's two prime fields (BN254, EIP-196), and arithmetic on BigInt for constants at build time.

import { bn254 } from '@noble/curves/bn254.js';

export { invert, mod as modulo, pow as power } from '@noble/curves/abstract/modular.js';

/** The base field: coordinates of points. */
export const baseModulus = bn254.fields.Fp.ORDER;
/** The scalar field: the order of G1 and G2. */
export const scalarModulus = bn254.fields.Fr.ORDER;

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
