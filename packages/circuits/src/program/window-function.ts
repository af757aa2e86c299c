/**
 * The template WindowPoint(window) of circom/secp256k1-window.circom as a function on the memory of its witness program: it reads the
 * outputs from a table of points, and writes every signal of the component. If an input is no bit, the compiled template computes.
 *
 * @module
 */
import { normalizeZ } from '@noble/curves/abstract/curve.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { scalarFieldOrder } from '@pool/kernels';
import { elementBytes, type FieldFunction, indices } from './field-functions.ts';
import { signalAt, type Toolkit, useOriginal, writeBody } from './range-functions.ts';
import {
  type Code,
  call,
  encodeBody,
  fold,
  get,
  i32,
  i64,
  load,
  op,
  set,
  store,
  when,
} from './wasm-code.ts';

const bitCount = 8;
const lowBits = 5;
/** Bytes of a point in the table: its coordinates. */
const pointBytes = 64;

/** The points (d + 1) 2^(8 window) G, d = 0..255. */
export function listWindowPoints(
  window: number,
): Array<{ readonly x: bigint; readonly y: bigint }> {
  const step = secp256k1.Point.BASE.multiply(2n ** BigInt(bitCount * window));
  const points = [step];
  while (points.length < 2 ** bitCount) {
    points.push((points.at(-1) ?? step).add(step));
  }
  return normalizeZ(secp256k1.Point, points).map((point) => point.toAffine());
}

/** Outputs as 32-bit words of a point: four limbs of x, the low 160 bits of y, and the others. */
const outputs = [
  ...[0, 2, 4, 6].map((first) => ({ first, count: 2 })),
  { first: 8, count: 5 },
  { first: 13, count: 3 },
];
const mostWords = 5;

// Signals: outputs, bits, products of low bits, products of high bits, and parts.
const firstBit = outputs.length;
const firstProduct = firstBit + bitCount;

/** Subsets of bits from `first` to `end` with two or more of them, in the template's order. */
function listSubsets(first: number, end: number): number[] {
  return indices(2 ** (end - first))
    .filter((subset) => (subset & (subset - 1)) !== 0)
    .map((subset) => subset << first);
}
const products = [...listSubsets(0, lowBits), ...listSubsets(lowBits, bitCount)];
const firstPart = firstProduct + products.length;
/** Subsets of the high bits whose products with combinations of the low ones are signals. */
const partSubsets = indices(2 ** (bitCount - lowBits) - 1).slice(1);

const returnNow = 0x0f;

/** (signals, table): returns 1 if the inputs are bits, else 0 without a result. */
export function writeWindow({ constants, at, scratch }: Toolkit): FieldFunction {
  const [signals, table, digit, low, chosen] = [0, 1, 2, 3, 4];
  const [sum, sign] = [5, 6];
  const piece = 7;
  const zero = constants.place([0n]);
  const signal = (index: number): Code => op('i32.add', get(signals), i32(elementBytes * index));
  const has = (subset: number): Code =>
    op('i32.eq', op('i32.and', get(digit), i32(subset)), i32(subset));
  const word = (pointer: number, index: number): Code =>
    load('i64.load32_u', get(pointer), 4 * index);
  const storeWords = (to: Code, words: readonly Code[]): Code => [
    ...store('i64.store', to, i64(1n << 63n)),
    ...words.flatMap((value, i) => store('i64.store32', to, value, 8 + 4 * i)),
  ];
  const readBits = indices(bitCount).flatMap((i) => {
    const words = [0, 1, 2, 3].map((index) => load('i64.load', i32(scratch + 8 + 8 * index)));
    const [first = [], ...others] = words;
    const rest = fold('i64.or', [op('i64.shr_u', first, i64(1)), ...others]);
    const bit = op('i32.shl', op('i32.wrap_i64', first), i32(i));
    return [
      ...call(at.load, i32(scratch + elementBytes), signal(firstBit + i), i32(zero)),
      ...call(at.store, i32(scratch), i32(scratch + elementBytes)),
      ...when(op('i64.eqz', rest), [], [...i32(0), returnNow]),
      ...set(digit, op('i32.or', get(digit), bit)),
    ];
  });
  /** The part for a subset: the sum of an output's values over the subset's subsets, with alternating signs. */
  const storePart = (to: Code, output: { first: number; count: number }, subset: number): Code => {
    const subsets = indices(subset + 1).filter((other) => (other & subset) === other);
    const countBits = (value: number) => value.toString(2).replaceAll('0', '').length;
    const lines: Code[] = [set(sum, i64(0))];
    for (const i of indices(output.count)) {
      for (const other of subsets) {
        const value = load(
          'i64.load32_u',
          get(low),
          pointBytes * (other << lowBits) + 4 * (output.first + i),
        );
        const isAdded = (countBits(subset) - countBits(other)) % 2 === 0;
        lines.push(set(sum, op(isAdded ? 'i64.add' : 'i64.sub', get(sum), value)));
      }
      lines.push(set(piece + i, op('i64.and', get(sum), i64(0xffff_ffffn))));
      lines.push(set(sum, op('i64.shr_s', get(sum), i64(32))));
    }
    // The last carry is a signed word. A negative number -v means r - v.
    lines.push(set(piece + output.count, get(sum)));
    lines.push(set(sign, op('i64.shr_s', get(sum), i64(63))));
    lines.push(set(sum, i64(0)));
    lines.push(store('i64.store', to, i64(1n << 63n)));
    for (const i of indices(8)) {
      const order = i64((scalarFieldOrder >> BigInt(32 * i)) & 0xffff_ffffn);
      const terms = [op('i64.and', get(sign), order), get(sum)];
      lines.push(
        set(sum, fold('i64.add', [...terms, ...(i > output.count ? [] : [get(piece + i)])])),
      );
      lines.push(store('i64.store32', to, get(sum), 8 + 4 * i));
      lines.push(set(sum, op('i64.shr_s', get(sum), i64(32))));
    }
    return lines.flat();
  };
  const pointAt = (index: Code): Code =>
    op('i32.add', get(table), op('i32.mul', index, i32(pointBytes)));
  const code = [
    ...readBits,
    ...set(low, pointAt(op('i32.and', get(digit), i32(2 ** lowBits - 1)))),
    ...set(chosen, pointAt(get(digit))),
    ...outputs.flatMap(({ first, count }, o) =>
      storeWords(
        signal(o),
        indices(8).map((i) => (i < count ? word(chosen, first + i) : i64(0))),
      ),
    ),
    ...products.flatMap((subset, i) =>
      store('i64.store', signal(firstProduct + i), op('i64.extend_i32_u', has(subset))),
    ),
    ...outputs.flatMap((output, o) =>
      partSubsets.flatMap((subset, i) => {
        const to = signal(firstPart + partSubsets.length * o + i);
        return when(
          has(subset << lowBits),
          storePart(to, output, subset),
          store('i64.store', to, i64(0)),
        );
      }),
    ),
    ...i32(1),
  ];
  return { parameters: 2, results: 1, body: encodeBody({ i32: 3, i64: 3 + mostWords }, code) };
}

/**
 * WindowPoint(window).
 * @param at index of the function of {@link writeWindow}
 */
export function writeWindowPoint(
  { constants }: Toolkit,
  at: number,
  window: number,
  original: number,
): Code {
  const table = constants.placeWords(
    listWindowPoints(window).flatMap(({ x, y }) =>
      [x, y].flatMap((value) =>
        indices(8).map((i) => Number((value >> BigInt(32 * i)) & 0xffff_ffffn)),
      ),
    ),
  );
  return writeBody([
    ...when(op('i32.eqz', call(at, signalAt(0), i32(table))), useOriginal(original)),
  ]);
}
