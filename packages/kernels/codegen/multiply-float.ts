// Two independent Montgomery products in the two lanes of f64x2, by fused multiply-add (needs relaxed SIMD with a real
// FMA; method: N. Emmart, "Faster modular exponentiation using double precision floating point arithmetic", 2018).
//
// Columns (column k has weight 2^51k) are kept as doubles: the sum of low parts, exact up to 2^53, and chains of high parts.
// A chain starts at C = 1.5·2^103 + 2^61. Each product of limbs is added to it with rounding to a multiple of 2^51:
//   after = fma(a, b, before)            from 2^103 on, while the sum of the products is at least -2^102 - 2^61
//   low   = fma(a, b, before - after)    exact: the difference is a multiple of 2^51 below 2^104; |low| <= 2^50
// Slightly above 2^104, doubles are multiples of 2^52, and |low| <= 2^51. So (chain - C)/2^51 belongs to the next column. The carry of a
// column is its value rounded to a multiple of 2^51 in the same way.
//
// Reduction: T = a·b, t = T mod R from the columns 0…4, m = t·n' mod R with n' = -1/p mod R, and the result (T + m·p)/R. Digits of t
// and m are column - carry + the carry of the column below, all at once: at most 2^50 + 8, as columns are at most 2^53. Of m·p,
// columns 0…3 are not computed: t + m·p is a multiple of R, and the columns 0…3 of t and of m·p are together below 2^4·2^204. So
// what column 4 of the sum carries is its value rounded to a multiple of 2^51, whatever the columns below would add.
//
// Size of the result: (a·b + m·p)/R with |m| <= (2^50 + 8)·(1 + 2^51 + … + 2^204) < 2^254·(1 + 2^-46), R = 2^255, hence
// |result| < |a·b|/R + p/2·(1 + 2^-46). Limbs 0…3 of the result are at most 2^50 + 8, the last one has the rest.
// The emitter checks the bounds of every chain and every column. It starts another chain, or carries early, where one would be too large.

import { limbCount, splitBalanced } from './constants.ts';
import { boundOfLimb, type FieldParameters, type Pair, requireBound } from './pair.ts';
import { at, bitsOf, type FunctionWriter, get, op, set } from './wat.ts';

const C = 1.5 * 2 ** 103 + 2 ** 61;
const half = 1n << 50n;
const maximumChain = (1n << 102n) + (1n << 60n);
/** Up to this sum of products, a chain stays below 2^104. */
const ordinaryChain = (1n << 102n) - (1n << 62n);
const maximumColumn = 1n << 53n;
/** Of a carry, in units of 2^51. */
const carryBound = 1n << 3n;
/** Of limbs 0…3 of a result. */
export const floatDigitBound = half + carryBound;
/** Of the roundings of a chain, in units of 2^51. */
const roundingBound = 1n << 4n;
const lower = [0, 1, 2, 3, 4];
const upper = [5, 6, 7, 8];

/** R of this multiplier, in bits. */
export const floatRadixBits = 255n;

/** A local and a bound of its size; of a chain, without C. */
type Bounded = { local: string; bound: bigint };

/** The columns of a sum of products of limbs. */
type Columns = {
  /** Adds x·y, at most `bound`, to a column; or only the part that the next column gets, or only the other one. */
  multiply(column: number, x: string, y: string, bound: bigint, part?: 'high' | 'low'): void;
  /** Adds a number to a column. Its local is the column's from then on. */
  add(column: number, value: string, bound: bigint): void;
  /** Adds the carry of the column below. */
  receive(column: number, carry: string): void;
  /** Takes a complete column: its value is `rest`, at most 2^50, and `carry`, a multiple of 2^51. */
  split(column: number): { readonly rest: string; readonly carry: string };
  /** Takes a complete column as it is. */
  take(column: number): string;
};

function createColumns(f: FunctionWriter, c: string, scale: string): Columns {
  const lows: (Bounded | undefined)[] = [];
  const chains: Bounded[][] = [];
  const chainsOf = (column: number): Bounded[] => (chains[column] ??= []);

  const add = (column: number, value: string, bound: bigint): void => {
    const low = lows[column];
    if (low === undefined) {
      lows[column] = { local: value, bound };
      return;
    }
    makeRoom(column, low, bound);
    f.push(set(low.local, op('f64x2.add', get(low.local), get(value))));
    f.give(value);
  };
  /** Carries what the column has so far, if it would be too large otherwise. */
  const makeRoom = (column: number, low: Bounded, bound: bigint): void => {
    if (low.bound + bound > maximumColumn) {
      if (column > upper.length + lower.length - 1)
        throw new RangeError('the last column is too large');
      const chain = f.let('v128', op('f64x2.add', get(low.local), get(c)));
      const carry = op('f64x2.sub', get(chain), get(c));
      f.push(set(low.local, op('f64x2.sub', get(low.local), carry)));
      chainsOf(column + 1).push({ local: chain, bound: low.bound + half });
      low.bound = half;
    }
    low.bound += bound;
    requireBound('a column', low.bound, maximumColumn);
  };
  const addScaled = (column: number, value: string, bound: bigint): void => {
    const low = lows[column];
    if (low === undefined) {
      lows[column] = { local: f.let('v128', op('f64x2.mul', value, scale)), bound };
      return;
    }
    makeRoom(column, low, bound);
    f.push(set(low.local, op('f64x2.relaxed_madd', value, scale, get(low.local))));
  };
  const take = (column: number): string => {
    for (const { local, bound } of chainsOf(column)) {
      addScaled(column, op('f64x2.sub', get(local), get(c)), (bound >> 51n) + roundingBound);
      f.give(local);
    }
    const low = lows[column];
    if (low === undefined) throw new RangeError('an empty column');
    chains[column] = [];
    lows[column] = undefined;
    return low.local;
  };
  return {
    add,
    take,
    receive: (column, carry) => {
      addScaled(column, get(carry), carryBound);
    },
    multiply: (column, x, y, bound, part) => {
      requireBound('product of limbs', bound, maximumChain);
      const above = chainsOf(column + 1);
      const open = above.find((chain) => chain.bound + bound <= maximumChain);
      const before = (part === 'low' ? undefined : open?.local) ?? c;
      const total = bound + (before === c ? 0n : (open?.bound ?? 0n));
      const after = f.let('v128', op('f64x2.relaxed_madd', get(x), get(y), get(before)));
      if (part !== 'high') {
        const low = f.let('v128', op('f64x2.sub', get(before), get(after)));
        f.push(set(low, op('f64x2.relaxed_madd', get(x), get(y), get(low))));
        add(column, low, total <= ordinaryChain ? half : 2n * half);
      }
      if (part === 'low') f.give(after);
      else if (open === undefined) above.push({ local: after, bound });
      else {
        f.give(open.local);
        open.local = after;
        open.bound += bound;
      }
    },
    split: (column) => {
      const value = take(column);
      const carry = f.let('v128', op('f64x2.sub', op('f64x2.add', get(value), get(c)), get(c)));
      f.push(set(value, op('f64x2.sub', get(value), get(carry))));
      return { rest: value, carry };
    },
  };
}

/** Products (i, j) of a column; a square takes each once and doubles the factor with the larger index. */
function termsOf(column: number, square: boolean): (readonly [i: number, j: number])[] {
  return Array.from({ length: limbCount }, (_, i) => [i, column - i] as const).filter(
    ([i, j]) => j >= (square ? i : 0) && j < limbCount,
  );
}

/** Bound of |result| of a sum of products with one reduction. */
export function boundOfResult(
  field: FieldParameters,
  products: ReadonlyArray<readonly [a: Pair, b: Pair]>,
): bigint {
  const sum = products.reduce((total, [a, b]) => total + a.value * b.value, 0n);
  return (sum >> floatRadixBits) + (field.modulus >> 1n) + (field.modulus >> 46n);
}

/** Writes a·b/R for both lanes, or a²/R. */
export function multiplyFloat(
  f: FunctionWriter,
  field: FieldParameters,
  a: Pair,
  b: Pair | undefined,
): Pair {
  const square = b === undefined;
  const other = b ?? a;
  const load = (value: number): string => op('v128.load', at(f.module.constant(bitsOf(value))));
  const inverse = field.inverseOfModulus(1n << floatRadixBits);
  const constants = {
    modulus: splitBalanced(field.modulus),
    negatedInverse: splitBalanced(BigInt.asIntN(Number(floatRadixBits), -inverse)),
  };
  const limbs = Array.from({ length: limbCount }, () => f.take('v128'));
  f.scope(() => {
    const c = f.let('v128', load(C));
    const scale = get(f.let('v128', load(2 ** -51)));
    const doubled = square
      ? a.limbs.map((name) => f.let('v128', op('f64x2.add', get(name), get(name))))
      : [];
    const multiplyColumn = (columns: Columns, column: number): void => {
      for (const [i, j] of termsOf(column, square)) {
        const isDoubled = square && j > i;
        const y = (isDoubled ? doubled : other.limbs)[j] ?? '';
        const bound = boundOfLimb(a, i) * boundOfLimb(other, j) * (isDoubled ? 2n : 1n);
        columns.multiply(column, a.limbs[i] ?? '', y, bound);
      }
    };
    const multiplyDigits = (
      columns: Columns,
      column: number,
      digits: readonly string[],
      factor: readonly bigint[],
      part?: 'high' | 'low',
    ): void => {
      for (const [i, j] of termsOf(column, false)) {
        const value = factor[j] ?? 0n;
        const y = f.let('v128', load(Number(value)));
        const bound = floatDigitBound * (value < 0n ? -value : value);
        columns.multiply(column, digits[i] ?? '', y, bound, part);
        f.give(y);
      }
    };
    /** The digits of the columns 0…4, and what the last one carries. */
    const takeDigits = (columns: Columns): { digits: string[]; carry: string } => {
      const parts = lower.map((column) => columns.split(column));
      for (const [column, { rest }] of parts.entries()) {
        const below = parts[column - 1]?.carry;
        if (below !== undefined)
          f.push(set(rest, op('f64x2.relaxed_madd', get(below), scale, get(rest))));
      }
      return { digits: parts.map(({ rest }) => rest), carry: parts.at(-1)?.carry ?? '' };
    };

    const sums = createColumns(f, c, scale);
    for (const column of lower) multiplyColumn(sums, column);
    const t = takeDigits(sums);
    for (const column of upper) multiplyColumn(sums, column);
    const quotient = createColumns(f, c, scale);
    for (const column of lower) {
      const part = column < limbCount - 1 ? undefined : 'low';
      multiplyDigits(quotient, column, t.digits, constants.negatedInverse, part);
    }
    const m = takeDigits(quotient);
    multiplyDigits(sums, limbCount - 2, m.digits, constants.modulus, 'high');
    sums.add(limbCount - 1, t.digits[limbCount - 1] ?? '', floatDigitBound);
    multiplyDigits(sums, limbCount - 1, m.digits, constants.modulus);
    for (const column of upper) multiplyDigits(sums, column, m.digits, constants.modulus);
    sums.receive(limbCount, t.carry);
    const { carry } = sums.split(limbCount - 1);
    sums.receive(limbCount, carry);
    const parts = upper.map((column) => sums.split(column));
    for (const [index, { rest }] of parts.entries()) {
      const below = parts[index - 1]?.carry;
      f.push(
        set(
          limbs[index] ?? '',
          below === undefined ? get(rest) : op('f64x2.relaxed_madd', get(below), scale, get(rest)),
        ),
      );
    }
    const last = 2 * limbCount - 1;
    sums.receive(last, parts.at(-1)?.carry ?? '');
    f.push(set(limbs[limbCount - 1] ?? '', get(sums.take(last))));
  });
  return { limbs, limb: floatDigitBound, value: boundOfResult(field, [[a, other]]) };
}
