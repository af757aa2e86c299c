// A field's elements and pairs between memory and locals: loads, stores, constants, selection.

import { createPair, type FieldConstants, limbOf, vector } from './field-parameters.ts';
import { type Pair, requireBound } from './pair.ts';
import { at, type FunctionWriter, get, op, set } from './wat.ts';

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
