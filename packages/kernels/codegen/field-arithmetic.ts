// A field's arithmetic on pairs, with bounds that are checked while the code is generated.

import { limbCount, splitBalanced } from './constants.ts';
import {
  C2,
  createPair,
  drop,
  type FieldConstants,
  limbOf,
  real,
  vector,
} from './field-parameters.ts';
import { multiplyFloat } from './multiply-float.ts';
import { multiplyFloatDense } from './multiply-float-dense.ts';
import { multiplyInteger } from './multiply-integer.ts';
import { boundOfLimb, type Pair, requireBound } from './pair.ts';
import { type FunctionWriter, get, op, set } from './wat.ts';

/** Adding and subtracting it rounds to a multiple of 2^51. */
const C1 = 1.5 * 2 ** 103;

/** a·b. Operands may be lazy sums of two stored elements each (checked). */
export function mul(f: FunctionWriter, field: FieldConstants, a: Pair, b: Pair): Pair {
  return field.multiplier === 'float'
    ? multiplyFloat(f, field, a, b)
    : multiplyInteger(f, field, a, b);
}

/** a·b in fewer instructions, for kernels that fill the longer time until the result. Only one operand may be a lazy sum (checked). */
export function mulDense(f: FunctionWriter, field: FieldConstants, a: Pair, b: Pair): Pair {
  return field.multiplier === 'float'
    ? multiplyFloatDense(f, field, [a, b])
    : multiplyInteger(f, field, a, b);
}

/** a·b + c·d, with one reduction if the multiplier supports it. */
export function mulSum(
  f: FunctionWriter,
  field: FieldConstants,
  a: Pair,
  b: Pair,
  c: Pair,
  d: Pair,
): Pair {
  if (field.multiplier === 'float') return multiplyFloatDense(f, field, [a, b], [c, d]);
  return norm(f, field, add(f, multiplyInteger(f, field, a, b), multiplyInteger(f, field, c, d)));
}

/** a². For a lazy sum use mul(a, a): squaring doubles limbs. */
export function sqr(f: FunctionWriter, field: FieldConstants, a: Pair): Pair {
  return field.multiplier === 'float'
    ? multiplyFloat(f, field, a, undefined)
    : multiplyInteger(f, field, a, undefined);
}

function combine(f: FunctionWriter, instruction: string, a: Pair, b: Pair): Pair {
  const pair = createPair(f, { limb: a.limb + b.limb, value: a.value + b.value });
  requireBound('a sum of limbs', boundOfLimb(pair, limbCount - 1), 1n << 53n);
  requireBound('a sum of limbs', pair.limb, 1n << 53n);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op(instruction, limbOf(a, index), limbOf(b, index))));
  });
  return pair;
}

/** a + b without any carry: five additions. The result can be multiplied, but not stored before `norm`. */
export function add(f: FunctionWriter, a: Pair, b: Pair): Pair {
  return combine(f, 'f64x2.add', a, b);
}

/** a - b, lazy as `add`. */
export function sub(f: FunctionWriter, a: Pair, b: Pair): Pair {
  return combine(f, 'f64x2.sub', a, b);
}

/** 2·a, lazy as `add`. */
export function double(f: FunctionWriter, a: Pair): Pair {
  return add(f, a, a);
}

/** -a, within the same bounds. */
export function neg(f: FunctionWriter, a: Pair): Pair {
  const pair = createPair(f, a);
  pair.limbs.forEach((limb, index) => {
    f.push(set(limb, op('f64x2.neg', limbOf(a, index))));
  });
  return pair;
}

/**
 * The same element with |value| <= p/2·(1 + 2^-39) and limbs in [-2^50, 2^50]. Zero has only zero limbs afterwards.
 *
 * k = round(top limb · 2^204/p): the limbs below (at most 2^53 each) are worth less than 2^-46·p, so |value - k·p| is
 * p/2 to within 2^-40·p. All sums stay below 2^53, thus exact (checked). Then carries from below:
 * h = limb rounded to a multiple of 2^51 by adding and subtracting 1.5·2^103.
 */
export function norm(f: FunctionWriter, field: FieldConstants, a: Pair): Pair {
  const quotient = a.value / field.modulus + 1n;
  const p = splitBalanced(field.modulus);
  for (const limb of p.slice(0, limbCount - 1)) {
    const multiple = quotient * (limb < 0n ? -limb : limb);
    requireBound('a limb to normalise', a.limb + multiple + 8n, 1n << 53n);
  }
  // The last limb and its multiple of p cancel: each must be exact by itself.
  requireBound('a limb to normalise', boundOfLimb(a, limbCount - 1), 1n << 53n);
  requireBound('a multiple of p', quotient * (field.modulus >> 203n), 1n << 54n);
  const pair = createPair(f, field.normal);
  f.scope(() => {
    const scale = real(f, Number(1n << 204n) / Number(field.modulus));
    const k = f.let(
      'v128',
      op(
        'f64x2.sub',
        op('f64x2.add', op('f64x2.mul', limbOf(a, limbCount - 1), scale), real(f, C2)),
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
    for (let index = 0; index < limbCount - 1; index++) {
      const limb = pair.limbs[index] ?? '';
      const above = pair.limbs[index + 1] ?? '';
      f.push(set(carry, op('f64x2.sub', op('f64x2.add', get(limb), real(f, C1)), real(f, C1))));
      f.push(set(limb, op('f64x2.sub', get(limb), get(carry))));
      const scaled = op('f64x2.mul', get(carry), real(f, 2 ** -51));
      f.push(set(above, op('f64x2.add', get(above), scaled)));
    }
  });
  return pair;
}

/** A mask (v128 local): all bits of a lane where the element is zero. The pair must be normalised. */
export function isZeroNormal(f: FunctionWriter, field: FieldConstants, a: Pair): string {
  requireBound('a compared value', a.value, field.normal.value);
  requireBound('a compared limb', a.limb, field.normal.limb);
  const [first = '', ...rest] = a.limbs;
  // Doubles: -0 equals 0, so the sign bit must not count.
  const joined = rest.reduce((left, limb) => op('v128.or', left, get(limb)), get(first));
  const magnitude = op('v128.andnot', joined, vector(f, 1n << 63n));
  return f.let('v128', op('i64x2.eq', magnitude, vector(f, 0n)));
}

/**
 * A mask of the lanes that are zero modulo p, or, with probability 2^-48, appear to be: the value is a multiple m·p within the bounds, so its lowest
 * limb is one of the few numbers that are m·p modulo 2^51. Any pair; far cheaper than `isZero`.
 */
export function mayBeZero(f: FunctionWriter, field: FieldConstants, a: Pair): string {
  const radix = 1n << 51n;
  const sizes = new Set<bigint>();
  for (let multiple = 0n; multiple <= a.value / field.modulus; multiple += 1n) {
    const rest = (multiple * field.modulus) % radix;
    for (let size = rest; size <= a.limb; size += radix) sizes.add(size);
    for (let size = radix - rest; size <= a.limb; size += radix) sizes.add(size);
  }
  const size = f.let('v128', op('f64x2.abs', limbOf(a, 0)));
  const masks = [...sizes].map((one) => op('f64x2.eq', get(size), real(f, Number(one))));
  const mask = f.let(
    'v128',
    masks.reduce((x, y) => op('v128.or', x, y)),
  );
  f.give(size);
  return mask;
}

/** Like `isZeroNormal`, for any pair. */
export function isZero(f: FunctionWriter, field: FieldConstants, a: Pair): string {
  const normal = norm(f, field, a);
  const mask = isZeroNormal(f, field, normal);
  drop(f, normal);
  return mask;
}

/** A mask of the lanes where a = b. */
export function isEqual(f: FunctionWriter, field: FieldConstants, a: Pair, b: Pair): string {
  const difference = sub(f, a, b);
  const mask = isZero(f, field, difference);
  drop(f, difference);
  return mask;
}
