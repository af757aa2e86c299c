// Coordinates of points: the base field for G1, its quadratic extension (u² = -1) for G2. A coordinate in memory is one or
// two elements, one after another. Kernels for curves are written once, over this interface.

import * as field from './field.ts';
import type { Pair } from './pair.ts';
import { type FunctionWriter, get, op } from './wat.ts';

/** One coordinate of two points: a pair for each component. */
export type Coordinate = readonly Pair[];

export type CoordinateField = {
  readonly base: field.Field;
  readonly components: 1 | 2;
  mul(f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate;
  sqr(f: FunctionWriter, a: Coordinate): Coordinate;
  /** The element of the base field to invert in order to invert `a` (normalised): itself, or its norm. */
  inverseKey(f: FunctionWriter, a: Coordinate): Pair;
  /** 1/a from the inverse of its key. */
  finishInverse(f: FunctionWriter, a: Coordinate, inverse: Pair): Coordinate;
};

/** Normalises unless the pair is within the bounds of what is stored. */
const tidy = (f: FunctionWriter, k: field.Field, a: Pair): Pair =>
  a.limb > k.stored.limb || a.value > k.stored.value ? field.norm(f, k, a) : a;

export const createG1Coordinates = (base: field.Field): CoordinateField => ({
  base,
  components: 1,
  mul: (f, [a], [b]) => [field.mul(f, base, one(a), one(b))],
  sqr: (f, [a]) => [field.sqr(f, base, tidy(f, base, one(a)))],
  inverseKey: (_f, [a]) => one(a),
  finishInverse: (_f, _a, inverse) => [inverse],
});

export const createG2Coordinates = (base: field.Field): CoordinateField => ({
  base,
  components: 2,
  // Karatsuba: (a0 + a1)(b0 + b1) - a0·b0 - a1·b1; sums of two stored elements may be multiplied with each other.
  mul: (f, a, b) => {
    const [a0, a1] = a.map((pair) => tidy(f, base, pair));
    const [b0, b1] = b.map((pair) => tidy(f, base, pair));
    const low = field.mul(f, base, one(a0), one(b0));
    const high = field.mul(f, base, one(a1), one(b1));
    const cross = field.mul(
      f,
      base,
      field.add(f, one(a0), one(a1)),
      field.add(f, one(b0), one(b1)),
    );
    return [field.sub(f, low, high), field.sub(f, field.sub(f, cross, low), high)];
  },
  // (a0 + a1)(a0 - a1) + 2·a0·a1·u
  sqr: (f, a) => {
    const [a0, a1] = a.map((pair) => tidy(f, base, pair));
    const real = field.mul(f, base, field.add(f, one(a0), one(a1)), field.sub(f, one(a0), one(a1)));
    const half = field.mul(f, base, one(a0), one(a1));
    return [real, field.double(f, half)];
  },
  inverseKey: (f, [a0, a1]) =>
    field.norm(f, base, field.add(f, field.sqr(f, base, one(a0)), field.sqr(f, base, one(a1)))),
  finishInverse: (f, [a0, a1], inverse) => [
    field.mul(f, base, one(a0), inverse),
    field.neg(f, field.mul(f, base, one(a1), inverse)),
  ],
});

const one = (pair: Pair | undefined): Pair => {
  if (pair === undefined) throw new Error('a coordinate lacks a component');
  return pair;
};

const zip = (a: Coordinate, b: Coordinate, combine: (x: Pair, y: Pair) => Pair): Coordinate =>
  a.map((pair, index) => combine(pair, one(b[index])));

export const subtract = (f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate =>
  zip(a, b, (x, y) => field.sub(f, x, y));

export const sum = (f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate =>
  zip(a, b, (x, y) => field.add(f, x, y));

export const normalise = (f: FunctionWriter, c: CoordinateField, a: Coordinate): Coordinate =>
  a.map((pair) => field.norm(f, c.base, pair));

/** Loads the coordinate at two addresses (names of i32 locals), `offset` bytes further. */
export const loadCoordinate = (
  f: FunctionWriter,
  c: CoordinateField,
  first: string,
  second: string,
  offset: number,
): Coordinate =>
  Array.from({ length: c.components }, (_, index) => {
    const at = op('i32.const', offset + index * field.ELEMENT_BYTES);
    return field.load(f, c.base, op('i32.add', get(first), at), op('i32.add', get(second), at));
  });

export const storeCoordinate = (
  f: FunctionWriter,
  c: CoordinateField,
  value: Coordinate,
  first: string,
  second: string,
  offset: number,
): void => {
  for (const [index, pair] of value.entries()) {
    const at = op('i32.const', offset + index * field.ELEMENT_BYTES);
    field.store(f, c.base, pair, op('i32.add', get(first), at), op('i32.add', get(second), at));
  }
};

/** Lane mask (expression): the normalised coordinate is zero. */
export const isZero = (f: FunctionWriter, c: CoordinateField, a: Coordinate): string =>
  a.map((pair) => get(field.isZeroNormal(f, c.base, pair))).reduce((x, y) => op('v128.and', x, y));

/** Lane by lane `mask ? a : b`; the mask is the name of a local. */
export const choose = (f: FunctionWriter, mask: string, a: Coordinate, b: Coordinate): Coordinate =>
  zip(a, b, (x, y) => field.select(f, get(mask), x, y));

export const assign = (f: FunctionWriter, target: Coordinate, source: Coordinate): void => {
  zip(target, source, (x, y) => {
    field.assign(f, x, y);
    return x;
  });
};
