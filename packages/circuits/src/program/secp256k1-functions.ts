/**
 * The functions multiplyModP and subtractModP of circom/secp256k1-hints.circom. They read and write numbers of four limbs of 64 bits, each
 * a variable of the program. Inside they are numbers of nine limbs (field-functions.ts) modulo p = 2^256 - 2^32 - 977. If an operand has
 * another limb, the compiled function computes.
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  cutLimb,
  elementBytes,
  indices,
  joinWord,
  limbCount,
  limbMask,
  limbsOf,
  localsAfter,
  pairsOf,
  radix,
  reduceColumns,
} from './field-functions.ts';
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

const prime = secp256k1.Point.Fp.ORDER;
const complement = (1n << 256n) - prime;
const wordCount = 4;
const [to, size, variables] = [0, 1, 2];
const firstWord = 3;
const a = firstWord + wordCount;
const b = a + limbCount;
const locals = localsAfter(b + limbCount);
const returnNow = 0x0f;

/** Reads a limb of 64 bits: a short number, or the first word of a long one. */
function readLimb(index: number, local: number, fail: Code): Code {
  const word = (i: number): Code => load('i64.load', get(variables), elementBytes * index + 8 * i);
  const isPlain = op('i64.eq', op('i64.shr_u', word(0), i64(62)), i64(2));
  const isOneWord = op('i64.eqz', fold('i64.or', [word(2), word(3), word(4)]));
  return [
    ...set(local, word(0)),
    ...when(
      op('i64.lt_u', get(local), i64(1n << 31n)),
      [],
      [...when(op('i32.and', isPlain, isOneWord), set(local, word(1)), fail)],
    ),
  ];
}

function readNumber(first: number, into: number, fail: Code): Code {
  return [
    ...indices(wordCount).flatMap((i) => readLimb(first + i, firstWord + i, fail)),
    ...indices(limbCount).flatMap((i) => set(into + i, cutLimb(firstWord, i))),
  ];
}

/** The columns of a product with a constant. */
function columnsWith(first: number, factor: bigint): (index: number) => Code[] {
  const limbs = limbsOf(factor);
  return (index) =>
    pairsOf(index)
      .filter(([, j]) => limbs[j] !== 0n)
      .map(([i, j]) => op('i64.mul', get(first + i), i64(limbs[j] ?? 0n)));
}

/** Reduces columns, and writes the number below p. The result before is below 2 p. */
function reduceAndWrite(column: (index: number) => Code[]): Code {
  const { carry, digit, limb } = locals;
  // With 2^256 - p added, a number of p or more has digits above 2^256, and the others are the number less p.
  const lines: Code[] = [set(carry, i64(complement))];
  for (const i of indices(wordCount)) {
    lines.push(set(firstWord + i, joinWord(limb, limbCount, 64 * i)));
    lines.push(set(digit + i, op('i64.add', get(firstWord + i), get(carry))));
    lines.push(
      set(carry, op('i64.extend_i32_u', op('i64.lt_u', get(digit + i), get(firstWord + i)))),
    );
  }
  const above = op('i64.shr_u', get(limb + limbCount - 1), i64(256 - 29 * (limbCount - 1)));
  return [
    ...reduceColumns(locals, column, undefined, prime),
    ...lines.flat(),
    ...when(
      op('i64.eqz', op('i64.or', above, get(carry))),
      [],
      indices(wordCount).flatMap((i) => set(firstWord + i, get(digit + i))),
    ),
    ...indices(wordCount).flatMap((i) => [
      ...store('i64.store', get(to), i64(1n << 63n), elementBytes * i),
      ...indices(wordCount).flatMap((word) =>
        store(
          'i64.store',
          get(to),
          word === 0 ? get(firstWord + i) : i64(0),
          elementBytes * i + 8 + 8 * word,
        ),
      ),
    ]),
  ];
}

function writeFunction(original: number, compute: Code): Code {
  const fail = [...call(original, get(to), get(size)), returnNow];
  return encodeBody({ i32: 1, i64: wordCount + 2 * limbCount + locals.count }, [
    ...set(variables, load('i32.load', i32(0))),
    ...readNumber(0, a, fail),
    ...readNumber(wordCount, b, fail),
    ...compute,
    ...i32(0),
  ]);
}

/** @param original index of the compiled function */
export function writeMultiplyModP(original: number): Code {
  const column = (index: number): Code[] =>
    pairsOf(index).map(([i, j]) => op('i64.mul', get(a + i), get(b + j)));
  return writeFunction(original, [
    ...reduceColumns(locals, column, undefined, prime),
    ...indices(limbCount).flatMap((i) => set(a + i, get(locals.limb + i))),
    ...reduceAndWrite(columnsWith(a, (radix * radix) % prime)),
  ]);
}

/** A multiple of p whose limbs are all 2^29 or more, so that no limb of a difference is negative. */
function listLargeLimbs(): bigint[] {
  const large = limbMask + 1n;
  const sum = indices(limbCount).reduce((all, i) => all + (large << BigInt(29 * i)), 0n);
  return limbsOf(prime - (sum % prime)).map((limb) => limb + large);
}

/** @param original index of the compiled function */
export function writeSubtractModP(original: number): Code {
  const large = listLargeLimbs();
  return writeFunction(original, [
    ...indices(limbCount).flatMap((i) =>
      set(a + i, op('i64.sub', op('i64.add', get(a + i), i64(large[i] ?? 0n)), get(b + i))),
    ),
    ...reduceAndWrite(columnsWith(a, radix % prime)),
  ]);
}
