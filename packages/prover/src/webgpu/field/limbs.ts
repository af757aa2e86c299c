/**
 * The layouts in which a device can multiply 256-bit numbers, and what each of them guarantees.
 *
 * WGSL has 32-bit integers only and no way to reach the upper half of a product, so how a number is cut into limbs decides the speed,
 * and which cut wins depends on the chip. In memory and between functions, numbers are always eight 32-bit words; a
 * multiplier divides them internally. Every layout is Montgomery multiplication with its own power of two R.
 *
 * @module
 */
import { generateDigitMultiplier } from './limbs-digits.ts';

export type LimbLayoutName = 'digits-13-loop' | 'digits-15-loop';

export type LimbLayout = {
  readonly name: LimbLayoutName;
  /** R = 2^radixBits. */
  readonly radixBits: number;
  /**
   * WGSL of `<prefix>_mul(a, b)` = a b / R mod modulus and `<prefix>_sqr(a)`, on `U256` below the modulus, result below the modulus.
   * The modulus is odd and below 2^254.
   */
  readonly generate: (prefix: string, modulus: bigint) => string;
};

function digits(name: LimbLayoutName, width: number, count: number): LimbLayout {
  return {
    name,
    radixBits: width * count,
    generate: (prefix, modulus) => generateDigitMultiplier({ prefix, modulus, width, count }),
  };
}

/** In the order in which they are tried; both are correct on a device that follows the WGSL specification. */
export const limbLayouts: readonly LimbLayout[] = [
  digits('digits-13-loop', 13, 20),
  digits('digits-15-loop', 15, 17),
];

/** @throws RangeError for a name that no layout has */
export function findLimbLayout(name: LimbLayoutName): LimbLayout {
  const layout = limbLayouts.find((candidate) => candidate.name === name);
  if (layout === undefined) throw new RangeError(`no limb layout is called ${name}`);
  return layout;
}
