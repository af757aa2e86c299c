/**
 * Products in the form of circom's program: four words, in Montgomery form with R = 2^256, below r. Inside they are those of
 * field-functions.ts: eight digits of 29 bits and one of 24 reduce by 2^256. Operands must be below r: the result for others may differ
 * from circom's. All values of a program are below r if its inputs are, and the prover refuses other inputs.
 *
 * @module
 */
import {
  computeInverse,
  cutLimb,
  indices,
  joinWord,
  limbBits,
  limbCount,
  limbMask,
  orderLimbs,
  pairsOf,
  wordsOfOrder,
} from './field-functions.ts';
import { type Code, encodeBody, fold, get, i64, load, op, set, store, when } from './wasm-code.ts';

const lastDigit = limbCount - 1;
/** 256 - 8 * 29 */
const lastDigitBits = 24;
/** Limbs above the digits but the last: the result, shifted by the last digit's bits. */
const resultLimbs = 10;
const wordCount = 4;

/** Locals after `first`. */
function layOut(first: number) {
  const words = first;
  const a = words + wordCount;
  const b = a + limbCount;
  const sum = b + limbCount;
  const carry = sum + 1;
  const digit = carry + 1;
  const limb = digit + limbCount;
  return { words, a, b, sum, carry, digit, limb, count: limb + resultLimbs - first };
}

type Layout = ReturnType<typeof layOut>;

/** Reads four words as limbs. */
function readLimbs({ words }: Layout, pointer: number, into: number): Code {
  return [
    ...indices(wordCount).flatMap((i) => set(words + i, load('i64.load', get(pointer), 8 * i))),
    ...indices(limbCount).flatMap((i) => set(into + i, cutLimb(words, i))),
  ];
}

/** Adds columns up, reduces them by 2^256, and writes the number below r. */
function reduceAndWrite(
  { words, sum, carry, digit, limb }: Layout,
  to: number,
  column: (index: number) => readonly Code[],
): Code {
  const lines: Code[] = [];
  for (let index = 0; index < 2 * limbCount; index++) {
    const first = Math.max(0, index - lastDigit);
    const terms = [
      ...column(index),
      ...indices(Math.min(index, limbCount))
        .slice(first)
        .map((i) => op('i64.mul', get(digit + i), i64(orderLimbs[index - i] ?? 0n))),
      ...(index === 0 ? [] : [get(carry)]),
    ];
    lines.push(set(sum, fold('i64.add', terms)));
    if (index < limbCount) {
      const mask = index < lastDigit ? limbMask : (1n << BigInt(lastDigitBits)) - 1n;
      const product = op('i64.mul', get(sum), i64(computeInverse()));
      lines.push(set(digit + index, op('i64.and', product, i64(mask))));
      const multiple = op('i64.mul', get(digit + index), i64(orderLimbs[0] ?? 0n));
      lines.push(set(sum, op('i64.add', get(sum), multiple)));
    }
    if (index >= lastDigit) {
      lines.push(set(limb + index - lastDigit, op('i64.and', get(sum), i64(limbMask))));
    }
    lines.push(set(carry, op('i64.shr_u', get(sum), i64(limbBits))));
  }
  // The result is below 2 r, as both operands are below r. The limbs of the digits are free for the difference, and `carry` for the borrow.
  lines.push(set(carry, i64(0)));
  for (const i of indices(wordCount)) {
    const order = i64(wordsOfOrder[i] ?? 0n);
    lines.push(set(words + i, joinWord(limb, resultLimbs, lastDigitBits + 64 * i)));
    lines.push(set(sum, op('i64.sub', get(words + i), order)));
    lines.push(set(digit + i, op('i64.sub', get(sum), get(carry))));
    const isLess = op(
      'i32.or',
      op('i64.lt_u', get(words + i), order),
      op('i64.lt_u', get(sum), get(carry)),
    );
    lines.push(set(carry, op('i64.extend_i32_u', isLess)));
  }
  lines.push(
    when(
      op('i64.eqz', get(carry)),
      indices(wordCount).flatMap((i) => set(words + i, get(digit + i))),
    ),
  );
  lines.push(...indices(wordCount).map((i) => store('i64.store', get(to), get(words + i), 8 * i)));
  return lines.flat();
}

/** (a, b, to) for Fr_F1m_mul. */
export function writeMontgomeryProduct(): Code {
  const [a, b, to] = [0, 1, 2];
  const layout = layOut(3);
  const column = (index: number): Code[] =>
    pairsOf(index).map(([i, j]) => op('i64.mul', get(layout.a + i), get(layout.b + j)));
  return encodeBody({ i32: 0, i64: layout.count }, [
    ...readLimbs(layout, a, layout.a),
    ...readLimbs(layout, b, layout.b),
    ...reduceAndWrite(layout, to, column),
  ]);
}

/** (a, to) for Fr_F1m_fromMontgomery. */
export function writeReduction(): Code {
  const [a, to] = [0, 1];
  const layout = layOut(2);
  const column = (index: number): Code[] => (index < limbCount ? [get(layout.a + index)] : []);
  return encodeBody({ i32: 0, i64: layout.count }, [
    ...readLimbs(layout, a, layout.a),
    ...reduceAndWrite(layout, to, column),
  ]);
}
