// The same as multiply-float.ts with fewer instructions and a longer way from operands to result: for kernels where other work fills
// the time. Digit by digit, with columns as integers.
//
// One product of limbs, |a·b| <= 2^102, round to nearest, C1 = 1.5·2^103, C2 = 1.5·2^52:
//   hi = fma(a, b, C1)         in [2^103, 2^104], so a multiple of 2^51: hi = C1 + 2^51·h, |a·b - 2^51·h| <= 2^50
//   s  = (C1 + C2) - hi        = C2 - 2^51·h, a multiple of 2^51 below 2^104: exact
//   lo = fma(a, b, s)          = C2 + (a·b - 2^51·h), an integer in [2^52, 2^53]: exact
// Inside one binade the bit pattern of a double grows by one per unit in the last place (and on to the next binade's
// first value), so h = bits(hi) - bits(C1) and the low part = bits(lo) - bits(C2), as signed integers. The patterns
// are summed with i64x2.add; the first summand of each column is minus the sum of the patterns' offsets.
//
// Reduction, column by column (column k has weight 2^51k): the digit m = mods(column·n', 2^51), n' = -p^-1 mod 2^51,
// is found by the same two fused operations and lies in [-2^50, 2^50]. Then column + lo(m·p0) is a multiple of 2^51.
// That sum is not computed: |lo| <= 2^50, so the carry is column/2^51 rounded to nearest, and on a tie (column = 2^50
// mod 2^51) it is rounded down: with a0 = 2^50, a0·n' is half way between multiples of 2^51 and goes to the even one,
// so m = -2^50 if n' = 3 mod 4 and +2^50 if n' = 1 mod 4; p0 = -1/n' gives p0 = 1 and 3 mod 4; m·p0 is again half way,
// and both cases leave lo = -2^50, that is the carry (column - 2^50)/2^51. Hence carry = (column + 2^50 - 1) >> 51.
//
// Size of the result: as in multiply-float.ts. Limbs 0…3 of the result are in [-2^50, 2^50), the last one has the rest.
// The emitter checks |a_i·b_j| <= 2^102 for the bounds it tracks, and sums of columns stay below 2^58.

import { limbCount, splitBalanced } from './constants.ts';
import { boundOfResult } from './multiply-float.ts';
import { boundOfLimb, type FieldParameters, type Pair, requireBound } from './pair.ts';
import { at, bitsOf, type FunctionWriter, get, op, set } from './wat.ts';

const C1 = 1.5 * 2 ** 103;
const C2 = 1.5 * 2 ** 52;
const limbRadix = 1n << 51n;
const half = 1n << 50n;
/** Added to columns so that they are positive when shifted without sign; a multiple of 2^51. */
const lift = 1n << 60n;
const columns = 2 * limbCount;

type Sink = { low(column: number): void; high(column: number): void };

/** How many parts each column gets. */
function countColumns(rows: (sink: Sink) => void): { low: number[]; high: number[] } {
  const low = new Array<number>(columns).fill(0);
  const high = new Array<number>(columns).fill(0);
  rows({
    low: (column) => {
      low[column] = (low[column] ?? 0) + 1;
    },
    high: (column) => {
      high[column] = (high[column] ?? 0) + 1;
    },
  });
  return { low, high };
}

function walk(products: number, sink: Sink): void {
  for (let i = 0; i < limbCount; i++) {
    for (let j = 0; j < limbCount; j++) {
      for (let product = 0; product < products; product++) {
        sink.low(i + j);
        sink.high(i + j + 1);
      }
    }
  }
  for (let i = 0; i < limbCount; i++) {
    for (let j = 0; j < limbCount; j++) {
      if (j > 0) sink.low(i + j);
      sink.high(i + j + 1);
    }
  }
}

/**
 * Writes (a·b + …)/R for both lanes: up to two products with one reduction.
 * Columns of two products stay below 2^58 as well: 2·5 low parts of 2^50 and high ones of 2^51, and the reduction's.
 */
export function multiplyFloatDense(
  f: FunctionWriter,
  field: FieldParameters,
  ...products: ReadonlyArray<readonly [a: Pair, b: Pair]>
): Pair {
  if (products.length < 1 || products.length > 2) throw new RangeError('one product, or two');
  for (const [a, b] of products) {
    for (let i = 0; i < limbCount; i++) {
      for (let j = 0; j < limbCount; j++) {
        requireBound('product of limbs', boundOfLimb(a, i) * boundOfLimb(b, j), 1n << 102n);
      }
    }
  }
  const { module } = f;
  const load = (low: bigint): string => op('v128.load', at(module.constant(low)));
  const n = BigInt.asIntN(51, -field.inverseOfModulus(limbRadix));
  const nConstant = bitsOf(Number(n));
  const mu = splitBalanced(field.modulus);
  const counts = countColumns((sink) => {
    walk(products.length, sink);
  });
  const offset = (column: number): bigint =>
    -(BigInt(counts.low[column] ?? 0) * bitsOf(C2) + BigInt(counts.high[column] ?? 0) * bitsOf(C1));
  // Columns 0…3 pass a carry lifted by 2^9 on; column 4 too, and 5…8 after them.
  const start = (column: number): bigint => {
    const lifted = column > 0 ? -(lift >> 51n) : 0n;
    if (column < limbCount) return offset(column) + lifted + lift;
    if (column < columns - 1) return offset(column) + lifted + lift + half;
    return offset(column) + lifted + bitsOf(C2);
  };

  const limbs = Array.from({ length: limbCount }, () => f.take('v128'));
  f.scope(() => {
    const c1 = f.let('v128', load(bitsOf(C1)));
    const c12 = f.let('v128', load(bitsOf(C1 + C2)));
    const mask = load(limbRadix - 1n);
    const high = f.take('v128');
    const columns: string[] = [];
    const add = (column: number, value: string): void => {
      const existing = columns[column];
      if (existing === undefined) {
        columns[column] = f.let('v128', op('i64x2.add', value, load(start(column))));
      } else {
        f.push(set(existing, op('i64x2.add', get(existing), value)));
      }
    };
    const accumulate = (x: string, y: string, column: number, withLow: boolean): void => {
      f.push(set(high, op('f64x2.relaxed_madd', x, y, get(c1))));
      add(column + 1, get(high));
      if (withLow) {
        const low = op('f64x2.relaxed_madd', x, y, op('f64x2.sub', get(c12), get(high)));
        add(column, low);
      }
    };
    const limb = (pair: Pair, index: number): string => get(pair.limbs[index] ?? '');
    const digit = f.take('v128');
    const scaled = f.take('v128');
    for (let i = 0; i < limbCount; i++) {
      for (let j = 0; j < limbCount; j++) {
        for (const [a, b] of products) accumulate(limb(a, i), limb(b, j), i + j, true);
      }
      // The digit of column i, complete now. The column's low 51 bits are in a double as 2^52 + a0; the surplus
      // 2^52·n' is in the constants (multiples of 2^51, so the sums stay exact).
      const column = columns[i] ?? '';
      const surplus = 2 ** 52 * Number(n);
      f.push(set(scaled, op('v128.or', op('v128.and', get(column), mask), load(bitsOf(2 ** 52)))));
      f.push(
        set(
          high,
          op('f64x2.relaxed_madd', get(scaled), load(nConstant), load(bitsOf(C1 - surplus))),
        ),
      );
      f.push(
        set(
          digit,
          op(
            'f64x2.sub',
            op(
              'f64x2.relaxed_madd',
              get(scaled),
              load(nConstant),
              op('f64x2.sub', load(bitsOf(C1 + C2 - surplus)), get(high)),
            ),
            load(bitsOf(C2)),
          ),
        ),
      );
      for (let j = 0; j < limbCount; j++) {
        accumulate(get(digit), load(bitsOf(Number(mu[j]))), i + j, j > 0);
      }
      add(
        i + 1,
        op('i64x2.shr_u', op('i64x2.add', get(column), load(half - 1n)), '(i32.const 51)'),
      );
    }
    limbs.forEach((result, index) => {
      const column = columns[limbCount + index] ?? '';
      if (index < limbCount - 1) {
        add(limbCount + index + 1, op('i64x2.shr_u', get(column), '(i32.const 51)'));
        const bits = op('v128.or', op('v128.and', get(column), mask), load(bitsOf(2 ** 52)));
        f.push(set(result, op('f64x2.sub', bits, load(bitsOf(2 ** 52 + 2 ** 50)))));
      } else {
        f.push(set(result, op('f64x2.sub', get(column), load(bitsOf(C2)))));
      }
    });
  });
  return { limbs, limb: half, value: boundOfResult(field, products) };
}
