// Two field elements in the two lanes of five f64x2 locals, with bounds that the emitter has proved. Every
// operation checks its operands' bounds while the code is generated: a kernel that could overflow is not built.

import { limbCount } from './constants.ts';

export type Pair = {
  /** Locals (v128) with the limbs, lowest first; each an integer, weight 2^51k. */
  readonly limbs: string[];
  /** Bound of |limb| for limbs 0…3. */
  readonly limb: bigint;
  /** Bound of |value|. */
  readonly value: bigint;
};

/** The properties of a field that the multipliers need. */
export type FieldParameters = {
  readonly name: string;
  readonly modulus: bigint;
  /** The inverse of the modulus modulo a power of two. */
  inverseOfModulus(radix: bigint): bigint;
};

/** Bound of one limb: the last one follows from the value and the limbs below it. */
export function boundOfLimb(pair: Pick<Pair, 'limb' | 'value'>, index: number): bigint {
  return index < limbCount - 1 ? pair.limb : ((pair.value + (pair.limb << 153n)) >> 204n) + 2n;
}

export function requireBound(what: string, bound: bigint, limit: bigint): void {
  if (bound > limit) {
    const ratio = Number((bound * 1000n) / limit) / 1000;
    throw new RangeError(`${what} can be ${ratio} times its limit: normalise an operand first`);
  }
}
