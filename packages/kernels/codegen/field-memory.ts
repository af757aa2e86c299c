// A field's elements and pairs between memory and locals: loads, stores, constants, selection.

import { limbCount } from './constants.ts';
import { norm } from './field-arithmetic.ts';
import {
  C2,
  createPair,
  drop,
  type FieldConstants,
  limbOf,
  real,
  vector,
} from './field-parameters.ts';
import { type Pair, requireBound } from './pair.ts';
import { at, type FunctionWriter, get, op, set } from './wat.ts';

// A field's elements as 32-byte little-endian integers.

const limbMask = (1n << 51n) - 1n;

function shiftLeft(value: string, by: number): string {
  return op('i64x2.shl', value, `(i32.const ${by})`);
}
function shiftRight(value: string, by: number): string {
  return op('i64x2.shr_u', value, `(i32.const ${by})`);
}

/** Reads two 32-byte little-endian integers as they are (any value below 2^256), no factor R. */
export function loadBytes(
  f: FunctionWriter,
  field: FieldConstants,
  first: string,
  second: string,
): Pair {
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
      const low = index < limbCount - 1 ? op('v128.and', value, vector(f, limbMask)) : value;
      const biased = op('v128.or', low, real(f, 2 ** 52));
      f.push(set(raw.limbs[index] ?? '', op('f64x2.sub', biased, real(f, 2 ** 52))));
    });
  });
  const pair = norm(f, field, raw);
  drop(f, raw);
  return pair;
}

/** The representative in [0, p) as unsigned 51-bit integers (i64x2 locals), no factor removed. Any bounds. */
function canonical(f: FunctionWriter, field: FieldConstants, a: Pair): string[] {
  const normal = norm(f, field, a);
  const limbs = normal.limbs;
  for (const limb of limbs) {
    const bits = op('f64x2.add', get(limb), real(f, C2));
    f.push(set(limb, op('i64x2.sub', bits, real(f, C2))));
  }
  const carry = (): void => {
    for (let index = 0; index < limbCount - 1; index++) {
      const limb = limbs[index] ?? '';
      const above = limbs[index + 1] ?? '';
      const up = op('i64x2.shr_s', get(limb), '(i32.const 51)');
      f.push(set(above, op('i64x2.add', get(above), up)));
      f.push(set(limb, op('v128.and', get(limb), vector(f, limbMask))));
    }
  };
  carry();
  const sign = f.let('v128', op('i64x2.shr_s', get(limbs[limbCount - 1] ?? ''), '(i32.const 63)'));
  for (const [index, limb] of limbs.entries()) {
    const p = (field.modulus >> (51n * BigInt(index))) & limbMask;
    f.push(set(limb, op('i64x2.add', get(limb), op('v128.and', get(sign), vector(f, p)))));
  }
  f.give(sign);
  carry();
  return limbs;
}

/** Writes the representatives in [0, p) as 32-byte little-endian integers, without removing the factor R. */
export function storeBytes(
  f: FunctionWriter,
  field: FieldConstants,
  pair: Pair,
  first: string,
  second?: string,
): void {
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
}

/** Bytes of an element in memory. */
export const elementBytes = 40;
/** Bytes of a pair in memory: the ten doubles lane by lane (scratch space only). */
export const pairBytes = 80;

/**
 * Loads the elements at two addresses (i32 expressions, evaluated five times: use locals) into the lanes. With one
 * address, the second lane is zero.
 */
export function load(
  f: FunctionWriter,
  field: FieldConstants,
  first: string,
  second?: string,
  bounds: Pick<Pair, 'limb' | 'value'> = field.stored,
): Pair {
  const pair = createPair(f, bounds);
  pair.limbs.forEach((limb, index) => {
    const low = op('v128.load64_zero', at(first, index * 8));
    const both =
      second === undefined ? low : `(v128.load64_lane offset=${index * 8} 1 ${second} ${low})`;
    f.push(set(limb, both));
  });
  return pair;
}

/** Stores the lanes to two addresses (or the first lane to one). The pair must be within the bounds of stored elements. */
export function store(
  f: FunctionWriter,
  field: FieldConstants,
  pair: Pair,
  first: string,
  second?: string,
): void {
  requireStorable(field, pair);
  pair.limbs.forEach((limb, index) => {
    f.push(`(v128.store64_lane offset=${index * 8} 0 ${first} ${get(limb)})`);
    if (second !== undefined) {
      f.push(`(v128.store64_lane offset=${index * 8} 1 ${second} ${get(limb)})`);
    }
  });
}

/** Loads a pair that `storePair` wrote (80 bytes, 16-byte steps: limb k of both lanes at 16k). */
export function loadPair(
  f: FunctionWriter,
  field: FieldConstants,
  address: string | number,
  bounds: Pick<Pair, 'limb' | 'value'> = field.stored,
): Pair {
  const pair = createPair(f, bounds);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('v128.load', at(address, index * 16))));
  });
  return pair;
}

export function storePair(
  f: FunctionWriter,
  field: FieldConstants,
  pair: Pair,
  address: string | number,
): void {
  requireStorable(field, pair);
  pair.limbs.forEach((limb, index) => {
    f.push(op('v128.store', at(address, index * 16), get(limb)));
  });
}

function requireStorable(field: FieldConstants, pair: Pair): void {
  requireBound('a stored value', pair.value, field.stored.value);
  requireBound('a stored limb', pair.limb, field.stored.limb);
}

/** A constant in both lanes. `raw`: the integer itself, without the factor R. */
export function constant(
  f: FunctionWriter,
  field: FieldConstants,
  value: bigint,
  raw = false,
): Pair {
  const pair = createPair(f, field.normal);
  field.encode(value, raw).forEach((bits, index) => {
    f.push(set(pair.limbs[index] ?? '', vector(f, bits)));
  });
  return pair;
}

/** Copies a pair into another one's locals (a loop variable); the bounds of the source must not be wider than those of the target. */
export function assign(f: FunctionWriter, target: Pair, source: Pair): void {
  requireBound('an assigned value', source.value, target.value);
  requireBound('an assigned limb', source.limb, target.limb);
  target.limbs.forEach((limb, index) => {
    f.push(set(limb, limbOf(source, index)));
  });
}

function largerOf(a: bigint, b: bigint): bigint {
  if (a < b) return b;
  return a;
}

/** Lane by lane `mask ? a : b`; the mask (v128) has all or no bits set in each lane. */
export function select(f: FunctionWriter, mask: string, a: Pair, b: Pair): Pair {
  const pair = createPair(f, {
    limb: largerOf(a.limb, b.limb),
    value: largerOf(a.value, b.value),
  });
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('v128.bitselect', limbOf(a, index), limbOf(b, index), mask)));
  });
  return pair;
}

/** The pair with its lanes exchanged. */
export function swapLanes(f: FunctionWriter, a: Pair): Pair {
  const swap = (limb: string): string =>
    `(i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 ${get(limb)} ${get(limb)})`;
  return { ...a, limbs: a.limbs.map((limb) => f.let('v128', swap(limb))) };
}
