// Montgomery products (P. L. Montgomery, "Modular multiplication without trial division", Math. Comp. 44, 1985)
// by 64-bit integers, for engines without a relaxed SIMD multiply-add that fuses. The memory format
// and the kernels are those of the float multiplier; R is 2^261: nine limbs of 29 bits, whose products (2^58) can be
// summed eighteen at a time in 64 bits without a carry.
//
// Operands are signed with |value| <= 3p: 3p is added first. Then a·b <= (6p)^2, and the result (a·b + m·p)/R with
// 0 <= m < R lies in [0, a·b/R + p]; p < 2^254 makes that less than 1.25·p (the bound is computed below).

import { limbCount, splitBalanced } from './constants.ts';
import { boundOfLimb, type FieldParameters, type Pair, requireBound } from './pair.ts';
import {
  at,
  bitsOf,
  call,
  type FunctionWriter,
  get,
  i64,
  type ModuleWriter,
  op,
  set,
} from './wat.ts';

/** R of this multiplier, in bits. */
export const integerRadixBits = 261n;
const bits = 29n;
const count = 9;
const digitMask = (1n << bits) - 1n;
const limbMask = (1n << 51n) - 1n;
const half = 1n << 50n;
const C2 = 1.5 * 2 ** 52;

function functionName(field: FieldParameters): string {
  return `${field.name}_multiplyInteger`;
}

/** Adds 3p to signed 51-bit limbs and cuts the (now positive) number into 29-bit limbs. */
function toDigits(f: FunctionWriter, modulus: bigint, limbs: readonly string[]): string[] {
  const offset = splitBalanced(3n * modulus);
  return f.scope(() => {
    let carry: string | undefined;
    for (const [index, limb] of limbs.entries()) {
      const sum = op('i64.add', get(limb), i64(offset[index] ?? 0n));
      f.push(set(limb, carry === undefined ? sum : op('i64.add', sum, carry)));
      if (index < limbCount - 1) {
        carry = op('i64.shr_s', get(limb), i64(51n));
        const next = f.let('i64', carry);
        carry = get(next);
        f.push(set(limb, op('i64.and', get(limb), i64(limbMask))));
      }
    }
    return Array.from({ length: count }, (_, digit) => {
      const bit = digit * 29;
      const [limb, shift] = [Math.floor(bit / 51), bit % 51];
      let value = op('i64.shr_u', get(limbs[limb] ?? ''), i64(BigInt(shift)));
      const above = limbs[limb + 1];
      if (shift + 29 > 51 && above !== undefined) {
        value = op('i64.or', value, op('i64.shl', get(above), i64(BigInt(51 - shift))));
      }
      return digit < count - 1 ? op('i64.and', value, i64(digitMask)) : value;
    });
  });
}

/** Writes the function that multiplies one pair of numbers given as signed limbs; results are balanced limbs. */
export function writeIntegerMultiplier(module: ModuleWriter, field: FieldParameters): void {
  const names = (prefix: string): string[] =>
    Array.from({ length: limbCount }, (_, index) => `${prefix}${index}`);
  const params = [...names('a'), ...names('b')].map((name) => [name, 'i64'] as const);
  const results = new Array<'i64'>(limbCount).fill('i64');
  const inverse = BigInt.asUintN(29, -field.inverseOfModulus(1n << bits));
  const mu = Array.from(
    { length: count },
    (_, index) => (field.modulus >> (bits * BigInt(index))) & digitMask,
  );
  module.func(functionName(field), { params, results }, (f) => {
    const x = toDigits(f, field.modulus, names('a')).map((value) => f.let('i64', value));
    const y = toDigits(f, field.modulus, names('b')).map((value) => f.let('i64', value));
    const sum = f.let('i64', i64(0n));
    const digits: string[] = [];
    const output: string[] = [];
    const add = (left: string, right: string): void => {
      f.push(set(sum, op('i64.add', get(sum), op('i64.mul', left, right))));
    };
    for (let column = 0; column < 2 * count; column++) {
      for (let i = Math.max(0, column - count + 1); i <= Math.min(column, count - 1); i++) {
        add(get(x[i] ?? ''), get(y[column - i] ?? ''));
        const digit = digits[i];
        if (digit !== undefined) add(get(digit), i64(mu[column - i] ?? 0n));
      }
      if (column < count) {
        const product = op('i64.mul', get(sum), i64(inverse));
        const digit = f.let('i64', op('i64.and', product, i64(digitMask)));
        digits.push(digit);
        add(get(digit), i64(mu[0] ?? 0n));
      } else {
        const last = column === 2 * count - 1;
        output.push(f.let('i64', last ? get(sum) : op('i64.and', get(sum), i64(digitMask))));
      }
      f.push(set(sum, op('i64.shr_u', get(sum), i64(bits))));
    }
    // 29-bit limbs to 51-bit ones, then to [-2^50, 2^50).
    let carry: string | undefined;
    for (let limb = 0; limb < limbCount; limb++) {
      const parts: string[] = [];
      for (const [index, digit] of output.entries()) {
        const shift = index * 29 - limb * 51;
        if (shift <= -29 || shift >= 51) continue;
        parts.push(
          shift < 0
            ? op('i64.shr_u', get(digit), i64(BigInt(-shift)))
            : op('i64.shl', get(digit), i64(BigInt(shift))),
        );
      }
      const joined = parts.reduce((left, right) => op('i64.or', left, right));
      const masked = limb < limbCount - 1 ? op('i64.and', joined, i64(limbMask)) : joined;
      const value = f.let('i64', carry === undefined ? masked : op('i64.add', masked, carry));
      if (limb < limbCount - 1) {
        const up = f.let('i64', op('i64.shr_u', op('i64.add', get(value), i64(half)), i64(51n)));
        f.push(set(value, op('i64.sub', get(value), op('i64.shl', get(up), i64(51n)))));
        carry = get(up);
      }
      f.push(get(value));
    }
  });
}

/** Writes a·b/R (or a²/R) for both lanes. */
export function multiplyInteger(
  f: FunctionWriter,
  field: FieldParameters,
  a: Pair,
  b: Pair | undefined,
): Pair {
  const other = b ?? a;
  for (const pair of [a, other]) {
    requireBound('operand of the integer multiplier', pair.value, 3n * field.modulus);
    requireBound('limb of the integer multiplier', boundOfLimb(pair, 0), 1n << 51n);
  }
  const offset = (value: number): string => op('v128.load', at(f.module.constant(bitsOf(value))));
  const limbs = Array.from({ length: limbCount }, () => f.take('v128'));
  f.scope(() => {
    const integers = (pair: Pair): string[] =>
      pair.limbs.map((name) =>
        f.let('v128', op('i64x2.sub', op('f64x2.add', get(name), offset(C2)), offset(C2))),
      );
    const x = integers(a);
    const y = b === undefined ? x : integers(b);
    const results = [0, 1].map((lane) => {
      const operands = [...x, ...y].map((name) => op(`i64x2.extract_lane ${lane}`, get(name)));
      const names = Array.from({ length: limbCount }, () => f.take('i64'));
      f.push(call(functionName(field), ...operands));
      for (const name of [...names].reverse()) f.push(`(local.set $${name})`);
      return names;
    });
    limbs.forEach((limb, index) => {
      const low = op('i64x2.splat', get(results[0]?.[index] ?? ''));
      const both = op('i64x2.replace_lane 1', low, get(results[1]?.[index] ?? ''));
      f.push(set(limb, op('f64x2.sub', op('i64x2.add', both, offset(C2)), offset(C2))));
    });
  });
  const p = field.modulus;
  return {
    limbs,
    limb: half,
    value: (((a.value + 3n * p) * (other.value + 3n * p)) >> integerRadixBits) + p,
  };
}
