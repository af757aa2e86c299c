// Points of the curve -X² + y² = 1 + D·X²·y² (babyjubjub-constants.ts), two at a time in the lanes, in memory.
//
// A point is four pairs X, Y, Z, T with X/Z, Y/Z its coordinates and T = X·Y/Z (extended coordinates; T is written only
// if the next step reads it). A prepared summand is Y+X, Y-X, 2·D·T, 2·Z, all normalised. Formulas: Hisil, Wong,
// Carter, Dawson (eprint 2008/522), §3.1 and §3.3 with a = -1. They are complete for points on the curve: no case is
// exceptional, so no branch depends on a point.

import { twistedD } from './babyjubjub-constants.ts';
import * as field from './field.ts';
import type { Pair } from './pair.ts';
import { type FunctionWriter, get, type ModuleWriter, op } from './wat.ts';

const pair = field.pairBytes;
/** Bytes of a point, and of a prepared summand. */
export const pointBytes = 4 * pair;
/** The offsets of a point's coordinates. */
export const offset = { x: 0, y: pair, z: 2 * pair, t: 3 * pair } as const;

/** The address `offset` bytes after the one in a local. */
export function after(name: string, offset: number): string {
  return offset === 0 ? get(name) : op('i32.add', get(name), `(i32.const ${offset})`);
}

/** The address of entry `index` (an i32 expression) of a table. */
export function addressOf(table: string, index: string, bytes: number): string {
  return op('i32.add', get(table), op('i32.mul', index, `(i32.const ${bytes})`));
}

/**
 * The bounds of coordinates: small enough that a product of two sums of two is a coordinate again if one of the
 * sums is normalised. The integer multiplier's results have wider bounds, and its products allow them.
 */
function coordinateBounds(k: field.Field): Pick<Pair, 'limb' | 'value'> {
  return k.multiplier === 'float'
    ? { limb: k.stored.limb, value: (k.modulus * 9n) / 10n }
    : k.stored;
}

export function loadCoordinate(
  f: FunctionWriter,
  k: field.Field,
  point: string,
  offset: number,
): Pair {
  return k.loadPair(f, after(point, offset), coordinateBounds(k));
}

export function storeCoordinate(
  f: FunctionWriter,
  k: field.Field,
  value: Pair,
  point: string,
  offset: number,
): void {
  const { limb, value: bound } = coordinateBounds(k);
  if (value.limb > limb || value.value > bound) throw new RangeError('a coordinate out of bounds');
  k.storePair(f, value, after(point, offset));
}

/** The end of both formulas: X = E·F, Y = G·H, Z = F·G and, on request, T = E·H. */
function storeProducts(
  f: FunctionWriter,
  k: field.Field,
  point: string,
  parts: { readonly e: Pair; readonly f: Pair; readonly g: Pair; readonly h: Pair },
  withT: boolean,
): void {
  const second = k.norm(f, parts.f);
  const fourth = k.norm(f, parts.h);
  field.drop(f, parts.f, parts.h);
  const put = (a: Pair, b: Pair, offset: number): void => {
    const product = k.mul(f, a, b);
    storeCoordinate(f, k, product, point, offset);
    field.drop(f, product);
  };
  put(parts.e, second, offset.x);
  put(parts.g, fourth, offset.y);
  put(second, parts.g, offset.z);
  if (withT) put(parts.e, fourth, offset.t);
}

/** `name(point)`: twice the point, in place. Reads X, Y, Z. */
function writeDouble(module: ModuleWriter, k: field.Field, name: string, withT: boolean): void {
  module.func(name, { params: ['point'] }, (f) => {
    const square = (offset: number): Pair => {
      const value = loadCoordinate(f, k, 'point', offset);
      const result = k.sqr(f, value);
      field.drop(f, value);
      return result;
    };
    const x = loadCoordinate(f, k, 'point', offset.x);
    const y = loadCoordinate(f, k, 'point', offset.y);
    const product = k.mul(f, x, y);
    field.drop(f, x, y);
    const e = field.double(f, product);
    field.drop(f, product);
    const a = square(offset.x);
    const b = square(offset.y);
    const zz = square(offset.z);
    const c = field.double(f, zz);
    field.drop(f, zz);
    const g = field.sub(f, b, a);
    const sum = field.add(f, a, b);
    field.drop(f, a, b);
    const h = field.neg(f, sum);
    field.drop(f, sum);
    const difference = field.sub(f, g, c);
    field.drop(f, c);
    storeProducts(f, k, 'point', { e, f: difference, g, h }, withT);
  });
}

/** `name(point, summand)`: their sum, in place of the point. Reads X, Y, Z, T. */
function writeAdd(module: ModuleWriter, k: field.Field, name: string, withT: boolean): void {
  module.func(name, { params: ['point', 'summand'] }, (f) => {
    const times = (value: Pair, offset: number): Pair => {
      const other = k.loadPair(f, after('summand', offset), k.normal);
      const product = k.mul(f, value, other);
      field.drop(f, value, other);
      return product;
    };
    const x = loadCoordinate(f, k, 'point', offset.x);
    const y = loadCoordinate(f, k, 'point', offset.y);
    const plus = field.add(f, y, x);
    const minus = field.sub(f, y, x);
    field.drop(f, x, y);
    const b = times(plus, 0);
    const a = times(minus, pair);
    const e = field.sub(f, b, a);
    const h = field.add(f, b, a);
    field.drop(f, a, b);
    const c = times(loadCoordinate(f, k, 'point', offset.t), 2 * pair);
    const d = times(loadCoordinate(f, k, 'point', offset.z), 3 * pair);
    const difference = field.sub(f, d, c);
    const g = field.add(f, d, c);
    field.drop(f, c, d);
    storeProducts(f, k, 'point', { e, f: difference, g, h }, withT);
  });
}

/** `name(to, point)`: the point as a summand. Reads X, Y, Z, T. */
function writePrepare(module: ModuleWriter, k: field.Field, name: string): void {
  module.func(name, { params: ['to', 'point'] }, (f) => {
    const put = (value: Pair, offset: number): void => {
      const normal = k.norm(f, value);
      k.storePair(f, normal, after('to', offset));
      field.drop(f, normal, value);
    };
    const x = loadCoordinate(f, k, 'point', offset.x);
    const y = loadCoordinate(f, k, 'point', offset.y);
    put(field.add(f, y, x), 0);
    put(field.sub(f, y, x), pair);
    const doubleD = k.constant(f, 2n * twistedD);
    put(k.mul(f, loadCoordinate(f, k, 'point', offset.t), doubleD), 2 * pair);
    put(field.double(f, loadCoordinate(f, k, 'point', offset.z)), 3 * pair);
  });
}

/**
 * `name(point, summand)`: the summand as a point (twice each coordinate, which is the same point), without T.
 */
function writeRestore(module: ModuleWriter, k: field.Field, name: string): void {
  module.func(name, { params: ['point', 'summand'] }, (f) => {
    const part = (offset: number): Pair => k.loadPair(f, after('summand', offset), k.normal);
    const plus = part(0);
    const minus = part(pair);
    storeCoordinate(f, k, k.norm(f, field.sub(f, plus, minus)), 'point', offset.x);
    storeCoordinate(f, k, k.norm(f, field.add(f, plus, minus)), 'point', offset.y);
    storeCoordinate(f, k, part(3 * pair), 'point', offset.z);
  });
}

/** Writes bj_double, bj_doubleFull, bj_add, bj_addFull (with T), bj_prepare and bj_restore. */
export function writePointFunctions(module: ModuleWriter, k: field.Field): void {
  writeDouble(module, k, 'bj_double', false);
  writeDouble(module, k, 'bj_doubleFull', true);
  writeAdd(module, k, 'bj_add', false);
  writeAdd(module, k, 'bj_addFull', true);
  writePrepare(module, k, 'bj_prepare');
  writeRestore(module, k, 'bj_restore');
}
