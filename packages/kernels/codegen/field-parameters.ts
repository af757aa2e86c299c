// The common parts of the field's operations: its parameters, constants in both lanes, pairs in locals.

import { invert, limbCount, modulo, splitBalanced } from './constants.ts';
import { floatDigitBound, floatRadixBits } from './multiply-float.ts';
import { integerRadixBits, writeIntegerMultiplier } from './multiply-integer.ts';
import type { FieldParameters, Pair } from './pair.ts';
import { at, bitsOf, type FunctionWriter, get, type ModuleWriter, op } from './wat.ts';

export type Multiplier = 'float' | 'integer';

const half = 1n << 50n;
/** Adding and subtracting it rounds to an integer; the low bits of the sum are the integer's. */
export const C2 = 1.5 * 2 ** 52;

export type FieldConstants = FieldParameters & {
  /** 'float' or 'integer'. */
  readonly multiplier: Multiplier;
  /** Montgomery's R modulo p. */
  readonly r: bigint;
  /** The bounds that every stored element has. */
  readonly stored: { readonly limb: bigint; readonly value: bigint };
  /** The bounds of a value that was multiplied by a constant, or normalised, and then stored. */
  readonly tight: { readonly limb: bigint; readonly value: bigint };
  /** The bounds after `norm`. */
  readonly normal: { readonly limb: bigint; readonly value: bigint };
  /** The limbs of an element as they are in memory: bits of five doubles. Input: an integer; `raw`: no factor R. */
  encode(value: bigint, raw?: boolean): bigint[];
};

/** A field's parameters. Writes writes the functions its multiplier needs into the module. */
export function createConstants(
  module: ModuleWriter,
  name: string,
  modulus: bigint,
  multiplier: Multiplier,
): FieldConstants {
  const bits = multiplier === 'float' ? floatRadixBits : integerRadixBits;
  const r = modulo(1n << bits, modulus);
  const limb = multiplier === 'float' ? floatDigitBound : half;
  const field: FieldConstants = {
    name,
    modulus,
    multiplier,
    r,
    stored: { limb, value: modulus + (modulus >> 2n) },
    tight: {
      limb,
      value: multiplier === 'float' ? (3n * modulus) / 5n : (11n * modulus) / 10n,
    },
    normal: { limb: half, value: (modulus >> 1n) + (modulus >> 40n) },
    inverseOfModulus: (radix) => invert(modulus, radix),
    encode: (value, raw = false) => {
      let element = modulo(raw ? value : value * r, modulus);
      if (element > modulus / 2n) element -= modulus;
      return splitBalanced(element).map((limb) => bitsOf(Number(limb)));
    },
  };
  if (multiplier === 'integer') writeIntegerMultiplier(module, field);
  return field;
}

/** A constant of 64 bits in both lanes. */
export function vector(f: FunctionWriter, bits: bigint): string {
  return op('v128.load', at(f.module.constant(bits)));
}
/** A double in both lanes. */
export function real(f: FunctionWriter, value: number): string {
  return vector(f, bitsOf(value));
}

export function createPair(f: FunctionWriter, bounds: Pick<Pair, 'limb' | 'value'>): Pair {
  return {
    limbs: Array.from({ length: limbCount }, () => f.take('v128')),
    limb: bounds.limb,
    value: bounds.value,
  };
}

export function limbOf(pair: Pair, index: number): string {
  return get(pair.limbs[index] ?? '');
}

/** Releases the locals of pairs. */
export function drop(f: FunctionWriter, ...pairs: readonly Pair[]): void {
  for (const pair of pairs) f.give(...pair.limbs);
}
