// Coordinates of points: the base field for G1, its quadratic extension (u² = -1) for G2. A coordinate in memory is one or
// two elements, one after another. Kernels for curves are written once, over this interface.

import * as field from './field.ts';
import { type Pair, requireBound } from './pair.ts';
import { type FunctionWriter, get, op } from './wat.ts';

/** One coordinate of two points: a pair for each component. */
export type Coordinate = readonly Pair[];

export type CoordinateField = {
  readonly base: field.Field;
  readonly components: 1 | 2;
  mul(f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate;
  sqr(f: FunctionWriter, a: Coordinate): Coordinate;
  /** The element of the base field to invert in order to invert `a` (a difference): itself, or its norm. */
  inverseKey(f: FunctionWriter, a: Coordinate): Pair;
  /** 1/a from the inverse of its key. */
  finishInverse(f: FunctionWriter, a: Coordinate, inverse: Pair): Coordinate;
};

/** Normalises unless the pair is within the bounds of stored elements. */
function tidy(f: FunctionWriter, k: field.Field, a: Pair): Pair {
  return a.limb > k.stored.limb || a.value > k.stored.value ? k.norm(f, a) : a;
}

export function createG1Coordinates(base: field.Field): CoordinateField {
  return {
    base,
    components: 1,
    mul: (f, [a], [b]) => [base.mul(f, one(a), one(b))],
    sqr: (f, [a]) => [base.sqr(f, tidy(f, base, one(a)))],
    inverseKey: (_f, [a]) => one(a),
    finishInverse: (_f, _a, inverse) => [inverse],
  };
}

export function createG2Coordinates(own: field.Field): CoordinateField {
  // Two components are enough work to fill the time of a product.
  const base: field.Field = { ...own, mul: own.mulDense };
  return {
    base,
    components: 2,
    // Two sums of two products, each reduced once: as fast as Karatsuba's three reduced products, and nothing to normalise.
    mul: (f, [a0, a1], [b0, b1]) => {
      const negative = field.neg(f, one(a1));
      return [
        base.mulSum(f, one(a0), one(b0), negative, one(b1)),
        base.mulSum(f, one(a0), one(b1), one(a1), one(b0)),
      ];
    },
    // (a0 + a1)(a0 - a1) + 2·a0·a1·u
    sqr: (f, a) => {
      const [a0, a1] = a.map((pair) => tidy(f, base, pair));
      const difference = base.norm(f, field.sub(f, one(a0), one(a1)));
      const real = base.mul(f, field.add(f, one(a0), one(a1)), difference);
      const half = base.mul(f, one(a0), one(a1));
      return [real, field.double(f, half)];
    },
    inverseKey: (f, a) => {
      const [a0, a1] = a.map((pair) => tidy(f, base, pair));
      return base.norm(f, base.mulSum(f, one(a0), one(a0), one(a1), one(a1)));
    },
    finishInverse: (f, [a0, a1], inverse) => [
      base.mul(f, one(a0), inverse),
      field.neg(f, base.mul(f, one(a1), inverse)),
    ],
  };
}

function one(pair: Pair | undefined): Pair {
  if (pair === undefined) throw new Error('a coordinate lacks a component');
  return pair;
}

function zip(a: Coordinate, b: Coordinate, combine: (x: Pair, y: Pair) => Pair): Coordinate {
  return a.map((pair, index) => combine(pair, one(b[index])));
}

export function subtract(f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate {
  return zip(a, b, (x, y) => field.sub(f, x, y));
}

export function sum(f: FunctionWriter, a: Coordinate, b: Coordinate): Coordinate {
  return zip(a, b, (x, y) => field.add(f, x, y));
}

export function normalise(f: FunctionWriter, c: CoordinateField, a: Coordinate): Coordinate {
  return a.map((pair) => c.base.norm(f, pair));
}

/** Coordinates are stored within `tight` bounds. Loads the coordinate at two addresses (names of i32 locals), `offset` bytes further. */
export function loadCoordinate(
  f: FunctionWriter,
  c: CoordinateField,
  first: string,
  second: string,
  offset: number,
): Coordinate {
  return Array.from({ length: c.components }, (_, index) => {
    const at = op('i32.const', offset + index * field.elementBytes);
    const addresses = [op('i32.add', get(first), at), op('i32.add', get(second), at)] as const;
    return c.base.load(f, ...addresses, c.base.tight);
  });
}

export function storeCoordinate(
  f: FunctionWriter,
  c: CoordinateField,
  value: Coordinate,
  first: string,
  second: string,
  offset: number,
): void {
  for (const [index, pair] of value.entries()) {
    requireBound('a stored coordinate', pair.value, c.base.tight.value);
    const at = op('i32.const', offset + index * field.elementBytes);
    c.base.store(f, pair, op('i32.add', get(first), at), op('i32.add', get(second), at));
  }
}

/** Lane mask (expression): the normalised coordinate is zero. */
export function isZero(f: FunctionWriter, c: CoordinateField, a: Coordinate): string {
  return a.map((pair) => get(c.base.isZeroNormal(f, pair))).reduce((x, y) => op('v128.and', x, y));
}

/** Lane mask (expression): the coordinate is zero, or appears to be (`field.mayBeZero`). */
export function mayBeZero(f: FunctionWriter, c: CoordinateField, a: Coordinate): string {
  return a.map((pair) => get(c.base.mayBeZero(f, pair))).reduce((x, y) => op('v128.and', x, y));
}

/** Lane by lane `mask ? a : b`; the mask is the name of a local. */
export function choose(f: FunctionWriter, mask: string, a: Coordinate, b: Coordinate): Coordinate {
  return zip(a, b, (x, y) => field.select(f, get(mask), x, y));
}

export function assign(f: FunctionWriter, target: Coordinate, source: Coordinate): void {
  zip(target, source, (x, y) => {
    field.assign(f, x, y);
    return x;
  });
}
