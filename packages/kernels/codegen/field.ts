// A prime field for kernels: elements in memory, pairs of elements in locals, every operation with proved bounds.
// How to use it: README.md in this folder.
//
// An element in memory is 40 bytes: five doubles, limbs of weight 2^51k in Montgomery form (R of the multiplier), signed:
// |limb 0…3| <= 2^50, |value| <= 1.25·p. A value has several representations; `norm` makes it the one in
// [-p/2, p/2] (to within 2^-40·p), `canonical` the integer in [0, p).

import { invert, LIMBS, modulo, splitBalanced } from './constants.ts';
import { FLOAT_RADIX_BITS, multiplyFloat } from './multiply-float.ts';
import { INTEGER_RADIX_BITS, multiplyInteger, writeIntegerMultiplier } from './multiply-integer.ts';
import { boundOfLimb, type FieldParameters, type Pair, requireBound } from './pair.ts';
import { at, bitsOf, type FunctionWriter, get, type ModuleWriter, op, set } from './wat.ts';

export type Multiplier = 'float' | 'integer';

/** Bytes of an element in memory. */
export const ELEMENT_BYTES = 40;
/** Bytes of a pair in memory: the ten doubles lane by lane (scratch space only). */
export const PAIR_BYTES = 80;

const LIMB_MASK = (1n << 51n) - 1n;
const HALF = 1n << 50n;
const C1 = 1.5 * 2 ** 103;
const C2 = 1.5 * 2 ** 52;

export type Field = FieldParameters & {
  /** 'float' or 'integer'. */
  readonly multiplier: Multiplier;
  /** Montgomery's R modulo p. */
  readonly r: bigint;
  /** The bounds that every stored element has. */
  readonly stored: { readonly limb: bigint; readonly value: bigint };
  /** The bounds after `norm`. */
  readonly normal: { readonly limb: bigint; readonly value: bigint };
  /** The limbs of an element as they stand in memory: bits of five doubles. Input: an integer; `raw`: no factor R. */
  encode(value: bigint, raw?: boolean): bigint[];
};

/** Creates a field's parameters, and writes the functions its multiplier needs into the module. */
export const createField = (
  module: ModuleWriter,
  name: string,
  modulus: bigint,
  multiplier: Multiplier,
): Field => {
  const bits = multiplier === 'float' ? FLOAT_RADIX_BITS : INTEGER_RADIX_BITS;
  const r = modulo(1n << bits, modulus);
  const field: Field = {
    name,
    modulus,
    multiplier,
    r,
    stored: { limb: HALF, value: modulus + (modulus >> 2n) },
    normal: { limb: HALF, value: (modulus >> 1n) + (modulus >> 40n) },
    inverseOfModulus: (radix) => invert(modulus, radix),
    encode: (value, raw = false) => {
      let element = modulo(raw ? value : value * r, modulus);
      if (element > modulus / 2n) element -= modulus;
      return splitBalanced(element).map((limb) => bitsOf(Number(limb)));
    },
  };
  if (multiplier === 'integer') writeIntegerMultiplier(module, field);
  return field;
};

const vector = (f: FunctionWriter, bits: bigint): string =>
  op('v128.load', at(f.module.constant(bits)));
const real = (f: FunctionWriter, value: number): string => vector(f, bitsOf(value));

const createPair = (f: FunctionWriter, bounds: Pick<Pair, 'limb' | 'value'>): Pair => ({
  limbs: Array.from({ length: LIMBS }, () => f.take('v128')),
  limb: bounds.limb,
  value: bounds.value,
});

const limbOf = (pair: Pair, index: number): string => get(pair.limbs[index] ?? '');

/** Gives the locals of pairs back. */
export const drop = (f: FunctionWriter, ...pairs: readonly Pair[]): void => {
  for (const pair of pairs) f.give(...pair.limbs);
};

// --- Memory -----------------------------------------------------------------------------------------------------

/**
 * Loads the elements at two addresses (i32 expressions, evaluated five times: use locals) into the lanes. With one
 * address, the second lane is zero.
 */
export const load = (
  f: FunctionWriter,
  field: Field,
  first: string,
  second?: string,
  bounds: Pick<Pair, 'limb' | 'value'> = field.stored,
): Pair => {
  const pair = createPair(f, bounds);
  pair.limbs.forEach((limb, index) => {
    const low = op('v128.load64_zero', at(first, index * 8));
    const both =
      second === undefined ? low : `(v128.load64_lane offset=${index * 8} 1 ${second} ${low})`;
    f.push(set(limb, both));
  });
  return pair;
};

/** Stores the lanes to two addresses (or the first lane to one). The pair must be within the bounds of stored elements. */
export const store = (
  f: FunctionWriter,
  field: Field,
  pair: Pair,
  first: string,
  second?: string,
): void => {
  requireStorable(field, pair);
  pair.limbs.forEach((limb, index) => {
    f.push(`(v128.store64_lane offset=${index * 8} 0 ${first} ${get(limb)})`);
    if (second !== undefined) {
      f.push(`(v128.store64_lane offset=${index * 8} 1 ${second} ${get(limb)})`);
    }
  });
};

/** Loads a pair that `storePair` left (80 bytes, 16-byte steps: limb k of both lanes at 16k). */
export const loadPair = (
  f: FunctionWriter,
  field: Field,
  address: string | number,
  bounds: Pick<Pair, 'limb' | 'value'> = field.stored,
): Pair => {
  const pair = createPair(f, bounds);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('v128.load', at(address, index * 16))));
  });
  return pair;
};

export const storePair = (
  f: FunctionWriter,
  field: Field,
  pair: Pair,
  address: string | number,
): void => {
  requireStorable(field, pair);
  pair.limbs.forEach((limb, index) => {
    f.push(op('v128.store', at(address, index * 16), get(limb)));
  });
};

const requireStorable = (field: Field, pair: Pair): void => {
  requireBound('a stored value', pair.value, field.stored.value);
  requireBound('a stored limb', pair.limb, field.stored.limb);
};

/** A constant in both lanes. `raw`: the integer itself, without the factor R. */
export const constant = (f: FunctionWriter, field: Field, value: bigint, raw = false): Pair => {
  const pair = createPair(f, field.normal);
  field.encode(value, raw).forEach((bits, index) => {
    f.push(set(pair.limbs[index] ?? '', vector(f, bits)));
  });
  return pair;
};

/** Copies a pair into another one's locals (a loop variable); the target takes no wider bounds than its own. */
export const assign = (f: FunctionWriter, target: Pair, source: Pair): void => {
  requireBound('an assigned value', source.value, target.value);
  requireBound('an assigned limb', source.limb, target.limb);
  target.limbs.forEach((limb, index) => {
    f.push(set(limb, limbOf(source, index)));
  });
};

const largerOf = (a: bigint, b: bigint): bigint => {
  if (a < b) return b;
  return a;
};

/** Lane by lane `mask ? a : b`; the mask (v128) has all or no bits set in each lane. */
export const select = (f: FunctionWriter, mask: string, a: Pair, b: Pair): Pair => {
  const pair = createPair(f, {
    limb: largerOf(a.limb, b.limb),
    value: largerOf(a.value, b.value),
  });
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('v128.bitselect', limbOf(a, index), limbOf(b, index), mask)));
  });
  return pair;
};

// --- Arithmetic -------------------------------------------------------------------------------------------------

/** a·b. Operands may be lazy sums of two stored elements each (checked). */
export const mul = (f: FunctionWriter, field: Field, a: Pair, b: Pair): Pair =>
  field.multiplier === 'float' ? multiplyFloat(f, field, a, b) : multiplyInteger(f, field, a, b);

/** a². For a lazy sum use mul(a, a): squaring doubles limbs. */
export const sqr = (f: FunctionWriter, field: Field, a: Pair): Pair =>
  field.multiplier === 'float'
    ? multiplyFloat(f, field, a, undefined)
    : multiplyInteger(f, field, a, undefined);

const combine = (f: FunctionWriter, instruction: string, a: Pair, b: Pair): Pair => {
  const pair = createPair(f, { limb: a.limb + b.limb, value: a.value + b.value });
  requireBound('a sum of limbs', boundOfLimb(pair, LIMBS - 1), 1n << 53n);
  requireBound('a sum of limbs', pair.limb, 1n << 53n);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op(instruction, limbOf(a, index), limbOf(b, index))));
  });
  return pair;
};

/** a + b without any carry: five additions. The result can be multiplied, but not stored before `norm`. */
export const add = (f: FunctionWriter, a: Pair, b: Pair): Pair => combine(f, 'f64x2.add', a, b);

/** a - b, lazy as `add`. */
export const sub = (f: FunctionWriter, a: Pair, b: Pair): Pair => combine(f, 'f64x2.sub', a, b);

/** 2·a, lazy as `add`. */
export const double = (f: FunctionWriter, a: Pair): Pair => add(f, a, a);

/** -a, within the same bounds. */
export const neg = (f: FunctionWriter, a: Pair): Pair => {
  const pair = createPair(f, a);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('f64x2.neg', limbOf(a, index))));
  });
  return pair;
};

/**
 * The same element with |value| <= p/2·(1 + 2^-39) and limbs in [-2^50, 2^50]. Zero has only zero limbs afterwards.
 *
 * k = round(top limb · 2^204/p): the limbs below (at most 2^53 each) are worth less than 2^-46·p, so |value - k·p| is
 * p/2 to within 2^-40·p. All sums stay below 2^53, thus exact (checked). Then carries from below:
 * h = limb rounded to a multiple of 2^51 by adding and subtracting 1.5·2^103.
 */
export const norm = (f: FunctionWriter, field: Field, a: Pair): Pair => {
  const quotient = a.value / field.modulus + 1n;
  const p = splitBalanced(field.modulus);
  for (const limb of p.slice(0, LIMBS - 1)) {
    const multiple = quotient * (limb < 0n ? -limb : limb);
    requireBound('a limb to normalise', a.limb + multiple + 8n, 1n << 53n);
  }
  // The last limb and its multiple of p cancel: each must be exact by itself.
  requireBound('a limb to normalise', boundOfLimb(a, LIMBS - 1), 1n << 53n);
  requireBound('a multiple of p', quotient * (field.modulus >> 203n), 1n << 54n);
  const pair = createPair(f, field.normal);
  f.scope(() => {
    const scale = real(f, Number(1n << 204n) / Number(field.modulus));
    const k = f.let(
      'v128',
      op(
        'f64x2.sub',
        op('f64x2.add', op('f64x2.mul', limbOf(a, LIMBS - 1), scale), real(f, C2)),
        real(f, C2),
      ),
    );
    pair.limbs.forEach((limb, index) => {
      const multiple = [get(k), real(f, -Number(p[index]))] as const;
      const value =
        field.multiplier === 'float'
          ? op('f64x2.relaxed_madd', ...multiple, limbOf(a, index))
          : op('f64x2.add', op('f64x2.mul', ...multiple), limbOf(a, index));
      f.push(set(limb, value));
    });
    const carry = f.take('v128');
    for (let index = 0; index < LIMBS - 1; index++) {
      const limb = pair.limbs[index] ?? '';
      const above = pair.limbs[index + 1] ?? '';
      f.push(set(carry, op('f64x2.sub', op('f64x2.add', get(limb), real(f, C1)), real(f, C1))));
      f.push(set(limb, op('f64x2.sub', get(limb), get(carry))));
      const scaled = op('f64x2.mul', get(carry), real(f, 2 ** -51));
      f.push(set(above, op('f64x2.add', get(above), scaled)));
    }
  });
  return pair;
};

// --- Comparisons ------------------------------------------------------------------------------------------------

/** A mask (v128 local): all bits of a lane where the element is zero. The pair must be normalised. */
export const isZeroNormal = (f: FunctionWriter, field: Field, a: Pair): string => {
  requireBound('a compared value', a.value, field.normal.value);
  requireBound('a compared limb', a.limb, field.normal.limb);
  const [first = '', ...rest] = a.limbs;
  // Doubles: -0 equals 0, so the sign bit must not count.
  const joined = rest.reduce((left, limb) => op('v128.or', left, get(limb)), get(first));
  const magnitude = op('v128.andnot', joined, vector(f, 1n << 63n));
  return f.let('v128', op('i64x2.eq', magnitude, vector(f, 0n)));
};

/** As `isZeroNormal`, of any pair. */
export const isZero = (f: FunctionWriter, field: Field, a: Pair): string => {
  const normal = norm(f, field, a);
  const mask = isZeroNormal(f, field, normal);
  drop(f, normal);
  return mask;
};

/** A mask of the lanes where a = b. */
export const isEqual = (f: FunctionWriter, field: Field, a: Pair, b: Pair): string => {
  const difference = sub(f, a, b);
  const mask = isZero(f, field, difference);
  drop(f, difference);
  return mask;
};

// --- Bytes ------------------------------------------------------------------------------------------------------

const shiftLeft = (value: string, by: number): string =>
  op('i64x2.shl', value, `(i32.const ${by})`);
const shiftRight = (value: string, by: number): string =>
  op('i64x2.shr_u', value, `(i32.const ${by})`);

/** Reads two 32-byte little-endian integers as they are (any value below 2^256), no factor R. */
export const loadBytes = (f: FunctionWriter, field: Field, first: string, second: string): Pair => {
  const raw = createPair(f, { limb: 1n << 51n, value: 1n << 256n });
  f.scope(() => {
    const words = [0, 8, 16, 24].map((offset) =>
      f.let(
        'v128',
        `(v128.load64_lane offset=${offset} 1 ${second} ${op('v128.load64_zero', at(first, offset))})`,
      ),
    );
    const word = (index: number): string => get(words[index] ?? '');
    const values = [
      word(0),
      op('v128.or', shiftRight(word(0), 51), shiftLeft(word(1), 13)),
      op('v128.or', shiftRight(word(1), 38), shiftLeft(word(2), 26)),
      op('v128.or', shiftRight(word(2), 25), shiftLeft(word(3), 39)),
      shiftRight(word(3), 12),
    ];
    values.forEach((value, index) => {
      const low = index < LIMBS - 1 ? op('v128.and', value, vector(f, LIMB_MASK)) : value;
      const biased = op('v128.or', low, real(f, 2 ** 52));
      f.push(set(raw.limbs[index] ?? '', op('f64x2.sub', biased, real(f, 2 ** 52))));
    });
  });
  const pair = norm(f, field, raw);
  drop(f, raw);
  return pair;
};

/** The representative in [0, p) as unsigned 51-bit integers (i64x2 locals), no factor removed. Any bounds. */
const canonical = (f: FunctionWriter, field: Field, a: Pair): string[] => {
  const normal = norm(f, field, a);
  const limbs = normal.limbs;
  for (const limb of limbs) {
    const bits = op('f64x2.add', get(limb), real(f, C2));
    f.push(set(limb, op('i64x2.sub', bits, real(f, C2))));
  }
  const carry = (): void => {
    for (let index = 0; index < LIMBS - 1; index++) {
      const limb = limbs[index] ?? '';
      const above = limbs[index + 1] ?? '';
      const up = op('i64x2.shr_s', get(limb), '(i32.const 51)');
      f.push(set(above, op('i64x2.add', get(above), up)));
      f.push(set(limb, op('v128.and', get(limb), vector(f, LIMB_MASK))));
    }
  };
  carry();
  const sign = f.let('v128', op('i64x2.shr_s', get(limbs[LIMBS - 1] ?? ''), '(i32.const 63)'));
  for (const [index, limb] of limbs.entries()) {
    const p = (field.modulus >> (51n * BigInt(index))) & LIMB_MASK;
    f.push(set(limb, op('i64x2.add', get(limb), op('v128.and', get(sign), vector(f, p)))));
  }
  f.give(sign);
  carry();
  return limbs;
};

/** Writes the representatives in [0, p) as 32-byte little-endian integers, without removing the factor R. */
export const storeBytes = (
  f: FunctionWriter,
  field: Field,
  pair: Pair,
  first: string,
  second?: string,
): void => {
  const limbs = canonical(f, field, pair);
  const limb = (index: number): string => get(limbs[index] ?? '');
  const words = [
    op('v128.or', limb(0), shiftLeft(limb(1), 51)),
    op('v128.or', shiftRight(limb(1), 13), shiftLeft(limb(2), 38)),
    op('v128.or', shiftRight(limb(2), 26), shiftLeft(limb(3), 25)),
    op('v128.or', shiftRight(limb(3), 39), shiftLeft(limb(4), 12)),
  ];
  f.scope(() => {
    words.forEach((value, index) => {
      const word = f.let('v128', value);
      f.push(`(v128.store64_lane offset=${index * 8} 0 ${first} ${get(word)})`);
      if (second !== undefined) {
        f.push(`(v128.store64_lane offset=${index * 8} 1 ${second} ${get(word)})`);
      }
    });
  });
  f.give(...limbs);
};
