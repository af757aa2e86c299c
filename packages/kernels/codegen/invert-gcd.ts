// Inversion by divsteps (D. J. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion", 2019), four
// times as fast as a power. The number of its steps depends on the value, and so does its time. It is for sums, which
// do not hide their scalars either. `invertPairs` keeps the power, whose time is always the same.
//
// f = p, g = the number; d, e with d·number = f, e·number = g mod p. Thirty divsteps look at the low bits of f and g alone
// and give a matrix: (f, g) times it is divisible by 2^30; so is (d, e) once multiples of p are added, which keep d and e
// in (-2p, p). At the end g = 0 and f = ±1. Numbers are nine limbs of 30 bits, the last one signed, in locals.

import { invert } from './constants.ts';
import { type Field, swapLanes } from './field.ts';
import {
  call,
  createLabel,
  type FunctionWriter,
  get,
  i32,
  i64,
  type ModuleWriter,
  op,
  set,
} from './wat.ts';

const bits = 30n;
const count = 9;
const mask = (1n << bits) - 1n;
const range = Array.from({ length: count }, (_, index) => index);
function wide(value: string): string {
  return op('i64.extend_i32_s', value);
}

/** Limbs of a number from 0 to 2^270. */
function split(value: bigint): bigint[] {
  return range.map((index) => (value >> (bits * BigInt(index))) & mask);
}

type Step = Readonly<Record<'f' | 'g' | 'u' | 'v' | 'q' | 'r' | 'eta', string>>;

/** Thirty divsteps on the low bits: sets the matrix (u, v; q, r) and eta, which is the paper's -delta. All i32. */
function writeSteps(f: FunctionWriter, low: Step): void {
  const [left, zeros, kept, factor] = ['i32', 'i32', 'i32', 'i32'].map((type) =>
    f.take(type as 'i32'),
  ) as [string, string, string, string];
  const assign = (name: string, value: string): void => {
    f.push(set(name, value));
  };
  for (const [name, value] of [
    [low.u, 1],
    [low.v, 0],
    [low.q, 0],
    [low.r, 1],
    [left, Number(bits)],
  ] as const)
    assign(name, i32(value));
  const label = createLabel();
  f.push(`(block $${label}e (loop $${label}`);
  // At most as many zeros as remaining steps.
  assign(zeros, op('i32.ctz', op('i32.or', get(low.g), op('i32.shl', i32(-1), get(left)))));
  assign(low.g, op('i32.shr_s', get(low.g), get(zeros)));
  assign(low.u, op('i32.shl', get(low.u), get(zeros)));
  assign(low.v, op('i32.shl', get(low.v), get(zeros)));
  assign(low.eta, op('i32.sub', get(low.eta), get(zeros)));
  assign(left, op('i32.sub', get(left), get(zeros)));
  f.push(op('br_if', `$${label}e`, op('i32.eqz', get(left))));
  f.push(`(if (i32.lt_s ${get(low.eta)} (i32.const 0)) (then`);
  assign(low.eta, op('i32.sub', i32(0), get(low.eta)));
  for (const [upper, lower] of [
    [low.f, low.g],
    [low.u, low.q],
    [low.v, low.r],
  ] as const) {
    assign(kept, get(upper));
    assign(upper, get(lower));
    assign(lower, op('i32.sub', i32(0), get(kept)));
  }
  f.push('))');
  // As many bits of g as eta and the remaining steps allow, at most six: f·(f² - 2) is -1/f modulo 64.
  assign(kept, op('i32.add', get(low.eta), i32(1)));
  assign(kept, `(select ${get(kept)} ${get(left)} (i32.lt_s ${get(kept)} ${get(left)}))`);
  assign(kept, `(select ${get(kept)} (i32.const 6) (i32.lt_s ${get(kept)} (i32.const 6)))`);
  const negated = op(
    'i32.mul',
    get(low.f),
    op('i32.sub', op('i32.mul', get(low.f), get(low.f)), i32(2)),
  );
  assign(
    factor,
    op(
      'i32.and',
      op('i32.mul', get(low.g), negated),
      op('i32.sub', op('i32.shl', i32(1), get(kept)), i32(1)),
    ),
  );
  for (const [lower, upper] of [
    [low.g, low.f],
    [low.q, low.u],
    [low.r, low.v],
  ] as const) {
    assign(lower, op('i32.add', get(lower), op('i32.mul', get(upper), get(factor))));
  }
  f.push(`(br $${label})))`);
  f.give(left, zeros, kept, factor);
}

/** `q_invertBytes(to, from)`: 32 bytes below p to 32 bytes, a number congruent to the inverse; zero to zero. */
function writeInvertBytes(module: ModuleWriter, k: Field): void {
  const p = split(k.modulus);
  const inverse = invert(k.modulus, 1n << bits);
  module.func(`${k.name}_invertBytes`, { exported: true, params: ['to', 'from'] }, (f) => {
    const push = (...statements: string[]): void => {
      for (const statement of statements) f.push(statement);
    };
    const take = (): string[] => range.map(() => f.take('i64'));
    const [fs, gs, ds, es] = [take(), take(), take(), take()] as [
      string[],
      string[],
      string[],
      string[],
    ];
    const name = (list: readonly string[], index: number): string => list[index] ?? '';
    for (const index of range) {
      push(set(name(fs, index), i64(p[index] ?? 0n)), set(name(ds, index), i64(0n)));
      push(set(name(es, index), i64(index === 0 ? 1n : 0n)));
      const bit = 30 * index;
      const [word, shift] = [bit >> 6, bit & 63];
      const at = (which: number): string => op('i64.load', `offset=${8 * which}`, get('from'));
      const first = op('i64.shr_u', at(word), i64(BigInt(shift)));
      const joined =
        shift > 34 && word < 3
          ? op('i64.or', first, op('i64.shl', at(word + 1), i64(BigInt(64 - shift))))
          : first;
      push(set(name(gs, index), op('i64.and', joined, i64(mask))));
    }
    const matrix = Object.fromEntries(
      ['u', 'v', 'q', 'r', 'f', 'g', 'eta'].map((key) => [key, f.take('i32')]),
    ) as Step;
    push(set(matrix.eta, i32(-1)));
    const wides = { u: f.take('i64'), v: f.take('i64'), q: f.take('i64'), r: f.take('i64') };
    const [sum, other, multiple, second] = [
      f.take('i64'),
      f.take('i64'),
      f.take('i64'),
      f.take('i64'),
    ];
    const row = (a: string, b: string, x: string, y: string): string =>
      op('i64.add', op('i64.mul', get(a), get(x)), op('i64.mul', get(b), get(y)));
    const up = (local: string): string => set(local, op('i64.shr_s', get(local), i64(bits)));
    const more = (local: string, value: string): string =>
      set(local, op('i64.add', get(local), value));
    const low = (local: string): string => op('i64.and', get(local), i64(mask));

    const label = createLabel();
    push(`(loop $${label}`);
    push(
      set(
        matrix.f,
        op(
          'i32.wrap_i64',
          op('i64.or', get(name(fs, 0)), op('i64.shl', get(name(fs, 1)), i64(bits))),
        ),
      ),
    );
    push(
      set(
        matrix.g,
        op(
          'i32.wrap_i64',
          op('i64.or', get(name(gs, 0)), op('i64.shl', get(name(gs, 1)), i64(bits))),
        ),
      ),
    );
    writeSteps(f, matrix);
    for (const key of ['u', 'v', 'q', 'r'] as const) push(set(wides[key], wide(get(matrix[key]))));

    // d and e: a multiple of p for each negative one, and the multiple that makes the lowest limb zero.
    const sign = (list: readonly string[]): string =>
      op('i64.shr_s', get(name(list, count - 1)), i64(63n));
    for (const [total, times, a, b] of [
      [sum, multiple, wides.u, wides.v],
      [other, second, wides.q, wides.r],
    ] as const) {
      push(
        set(times, op('i64.add', op('i64.and', get(a), sign(ds)), op('i64.and', get(b), sign(es)))),
      );
      push(set(total, row(a, b, name(ds, 0), name(es, 0))));
      const rest = op('i64.add', op('i64.mul', get(total), i64(inverse)), get(times));
      push(set(times, op('i64.sub', get(times), op('i64.and', rest, i64(mask)))));
      push(more(total, op('i64.mul', get(times), i64(p[0] ?? 0n))), up(total));
    }
    for (let index = 1; index < count; index++) {
      push(more(sum, row(wides.u, wides.v, name(ds, index), name(es, index))));
      push(more(sum, op('i64.mul', get(multiple), i64(p[index] ?? 0n))));
      push(more(other, row(wides.q, wides.r, name(ds, index), name(es, index))));
      push(more(other, op('i64.mul', get(second), i64(p[index] ?? 0n))));
      push(set(name(ds, index - 1), low(sum)), up(sum));
      push(set(name(es, index - 1), low(other)), up(other));
    }
    push(set(name(ds, count - 1), get(sum)), set(name(es, count - 1), get(other)));

    // f and g.
    push(set(sum, row(wides.u, wides.v, name(fs, 0), name(gs, 0))), up(sum));
    push(set(other, row(wides.q, wides.r, name(fs, 0), name(gs, 0))), up(other));
    for (let index = 1; index < count; index++) {
      push(more(sum, row(wides.u, wides.v, name(fs, index), name(gs, index))));
      push(more(other, row(wides.q, wides.r, name(fs, index), name(gs, index))));
      push(set(name(fs, index - 1), low(sum)), up(sum));
      push(set(name(gs, index - 1), low(other)), up(other));
    }
    push(set(name(fs, count - 1), get(sum)), set(name(gs, count - 1), get(other)));
    const left = gs.map(get).reduce((x, y) => op('i64.or', x, y));
    push(op('br_if', `$${label}`, op('i64.ne', left, i64(0n))), ')');

    // 2p + d or 2p - d, as f is 1 or -1: from 0 to 4p, below 2^256.
    push(set(multiple, op('i64.shr_s', get(name(fs, count - 1)), i64(63n))), set(sum, i64(0n)));
    const twice = split(2n * k.modulus);
    for (const index of range) {
      const signed = op(
        'i64.sub',
        op('i64.xor', get(name(ds, index)), get(multiple)),
        get(multiple),
      );
      push(more(sum, op('i64.add', signed, i64(twice[index] ?? 0n))));
      push(set(name(ds, index), index < count - 1 ? low(sum) : get(sum)), up(sum));
    }
    for (let word = 0; word < 4; word++) {
      const parts = range.flatMap((index) => {
        const shift = 30 * index - 64 * word;
        if (shift <= -30 || shift >= 64) return [];
        const value = get(name(ds, index));
        return [
          shift < 0
            ? op('i64.shr_u', value, i64(BigInt(-shift)))
            : op('i64.shl', value, i64(BigInt(shift))),
        ];
      });
      push(
        op(
          'i64.store',
          `offset=${8 * word}`,
          get('to'),
          parts.reduce((x, y) => op('i64.or', x, y)),
        ),
      );
    }
  });
}

/** `q_invertPairByGcd(to, from, scratch)`: both lanes with one inversion. Neither may be zero. Scratch: 64 bytes. */
export function writeGcdInversion(module: ModuleWriter, k: Field): void {
  writeInvertBytes(module, k);
  const params = ['to', 'from', 'scratch'];
  module.func(`${k.name}_invertPairByGcd`, { params }, (f) => {
    const pair = k.loadPair(f, get('from'));
    const swapped = swapLanes(f, pair);
    k.storeBytes(f, k.mul(f, pair, swapped), get('scratch'));
    f.push(call(`${k.name}_invertBytes`, get('scratch'), get('scratch')));
    const raw = k.loadBytes(f, get('scratch'), get('scratch'));
    const both = k.mul(f, raw, k.constant(f, k.r * k.r * k.r, true));
    k.storePair(f, k.mul(f, both, swapped), get('to'));
  });
}
