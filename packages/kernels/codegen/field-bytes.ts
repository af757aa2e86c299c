// A field's elements as 32-byte little-endian integers.

import { limbCount } from './constants.ts';
import { norm } from './field-arithmetic.ts';
import { C2, createPair, drop, type FieldConstants, real, vector } from './field-parameters.ts';
import type { Pair } from './pair.ts';
import { at, type FunctionWriter, get, op, set } from './wat.ts';

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
