/**
 * Arithmetic modulo r, BN254's scalar field order: the functions that an accelerated witness program calls.
 *
 * An element in memory has nine limbs of 29 bits in 32-bit words (40 bytes, the last four unused), is in Montgomery form with
 * R = 2^261, and is below 128 r: not unique. Products of limbs are below 2^58, and a column of them is summed in 64 bits without a
 * carry (P. L. Montgomery, "Modular multiplication without trial division", Math. Comp. 44, 1985).
 *
 * A sum of up to seven products stays below 2^64: column 7 has the most, 8 of each product and 8 of the reduction, together 64 of at
 * most (2^29 - 1)^2, and a carry below 2^36. One factor of each product is a constant below r, so the last limbs are short.
 *
 * @module
 */
import { scalarFieldOrder } from '@pool/kernels';
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

export const limbBits = 29n;
export const limbCount = 9;
export const limbMask = (1n << limbBits) - 1n;
export const radix = 1n << (limbBits * BigInt(limbCount));
/** Bytes of an element. A signal of circom's program has as many. */
export const elementBytes = 40;
/** Most products in a sum. */
const maximumTerms = 7;

export function indices(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
export function limbsOf(value: bigint): bigint[] {
  return indices(limbCount).map((i) => (value >> (limbBits * BigInt(i))) & limbMask);
}
export const orderLimbs = limbsOf(scalarFieldOrder);
export const wordsOfOrder = [0n, 64n, 128n, 192n].map((shift) => scalarFieldOrder >> shift);

/** -1/order modulo 2^29, by Newton's method. */
export function computeInverse(order = scalarFieldOrder): bigint {
  let inverse = 1n;
  for (let bits = 1; bits < 29; bits *= 2) {
    inverse = BigInt.asUintN(29, inverse * (2n - order * inverse));
  }
  return BigInt.asUintN(29, -inverse);
}

/** Constants in the program's memory. */
export type Constants = {
  /** Address of the elements of these numbers, one after another. */
  readonly place: (values: readonly bigint[]) => number;
  /** The same for a number that is not brought into Montgomery form. */
  readonly placePlain: (value: bigint) => number;
  /** Address of 32-bit words. */
  readonly placeWords: (words: readonly number[]) => number;
  readonly bytes: () => Uint8Array;
};

/** @param start address of the first constant */
export function createConstants(start: number): Constants {
  const words: number[] = [];
  const known = new Map<string, number>();
  const placeWords = (added: readonly number[]): number => {
    const address = start + 4 * words.length;
    words.push(...added);
    return address;
  };
  const put = (values: readonly bigint[]): number => {
    const key = values.join(',');
    const address =
      known.get(key) ?? placeWords(values.flatMap((value) => [...limbsOf(value).map(Number), 0]));
    known.set(key, address);
    return address;
  };
  return {
    place: (values) => put(values.map((value) => (value * radix) % scalarFieldOrder)),
    placePlain: (value) => put([value]),
    placeWords,
    bytes: () => {
      const view = new DataView(new ArrayBuffer(4 * words.length));
      for (const [index, word] of words.entries()) {
        view.setUint32(4 * index, word, true);
      }
      return new Uint8Array(view.buffer);
    },
  };
}

/** A column's sum, its carry, nine digits of the reduction, and nine limbs of the result: the 64-bit locals after `first`. */
export function localsAfter(first: number) {
  const digit = first + 2;
  const limb = digit + limbCount;
  return { sum: first, carry: first + 1, digit, limb, count: 2 + 2 * limbCount };
}

function limbAt(pointer: number, index: number): Code {
  return load('i64.load32_u', get(pointer), 4 * index);
}

/**
 * Adds columns up, and reduces.
 * @param column the products of a column
 * @param extra what is added to a limb of the result
 * @param order of the field
 */
export function reduceColumns(
  locals: ReturnType<typeof localsAfter>,
  column: (index: number) => readonly Code[],
  extra: (index: number) => readonly Code[] = () => [],
  order = scalarFieldOrder,
): Code {
  const orderLimbs = limbsOf(order);
  const { sum, carry, digit, limb } = locals;
  const lines: Code[] = [];
  for (let index = 0; index < 2 * limbCount; index++) {
    const first = Math.max(0, index - limbCount + 1);
    // What is known last is added last.
    const terms = [
      ...column(index),
      ...(index < limbCount ? [] : extra(index - limbCount)),
      ...indices(Math.min(index, limbCount))
        .slice(first)
        .map((i) => op('i64.mul', get(digit + i), i64(orderLimbs[index - i] ?? 0n))),
      ...(index === 0 ? [] : [get(carry)]),
    ];
    lines.push(set(sum, fold('i64.add', terms)));
    const shifted = op('i64.shr_u', get(sum), i64(limbBits));
    if (index < limbCount) {
      const product = op('i64.mul', get(sum), i64(computeInverse(order)));
      lines.push(set(digit + index, op('i64.and', product, i64(limbMask))));
      const multiple = op('i64.mul', get(digit + index), i64(orderLimbs[0] ?? 0n));
      lines.push(set(carry, op('i64.shr_u', op('i64.add', get(sum), multiple), i64(limbBits))));
    } else {
      lines.push(set(limb + index - limbCount, op('i64.and', get(sum), i64(limbMask))));
      lines.push(set(carry, shifted));
    }
  }
  return lines.flat();
}

function storeLimbs(to: number, limb: number): Code {
  return indices(limbCount).flatMap((i) => store('i64.store32', get(to), get(limb + i), 4 * i));
}

/** Pairs of limbs whose product is in a column. */
export function pairsOf(column: number): Array<readonly [number, number]> {
  return indices(limbCount)
    .map((i) => [i, column - i] as const)
    .filter(([, j]) => j >= 0 && j < limbCount);
}

const limbsPerElement = elementBytes / 4;

/** (to, a, b, add): the sum of a_i b_i, i < n, plus `add`, for n elements one after another at a and at b. */
function writeSumOfProducts(n: number): Code {
  const [to, a, b, add] = [0, 1, 2, 3];
  const locals = localsAfter(4);
  const column = (index: number): Code[] =>
    indices(n).flatMap((term) =>
      pairsOf(index).map(([i, j]) =>
        op('i64.mul', limbAt(a, limbsPerElement * term + i), limbAt(b, limbsPerElement * term + j)),
      ),
    );
  const code = reduceColumns(locals, column, (i) => [limbAt(add, i)]);
  return encodeBody({ i32: 0, i64: locals.count }, [...code, ...storeLimbs(to, locals.limb)]);
}

/** (to, a): the square. */
function writeSquare(): Code {
  const [to, a] = [0, 1];
  const locals = localsAfter(2);
  const column = (index: number): Code[] => {
    const product = ([i, j]: readonly [number, number]): Code =>
      op('i64.mul', limbAt(a, i), limbAt(a, j));
    const pairs = pairsOf(index);
    const mixed = pairs.filter(([i, j]) => i < j).map(product);
    return [
      ...(mixed.length === 0 ? [] : [op('i64.shl', fold('i64.add', mixed), i64(1))]),
      ...pairs.filter(([i, j]) => i === j).map(product),
    ];
  };
  const code = reduceColumns(locals, column);
  return encodeBody({ i32: 0, i64: locals.count }, [...code, ...storeLimbs(to, locals.limb)]);
}

/** 64 bits from `bit` on, of a number in `count` limbs in the locals after `first`. */
export function joinWord(first: number, count: number, bit: number): Code {
  const starts = indices(count).map((i) => 29 * i - bit);
  const parts = starts.flatMap((start, i) => {
    const limb = get(first + i);
    if (start <= -29 || start >= 64) return [];
    return [start < 0 ? op('i64.shr_u', limb, i64(-start)) : op('i64.shl', limb, i64(start))];
  });
  return fold('i64.or', parts);
}

/** Limb `i` of a number in four words in the locals after `first`. */
export function cutLimb(first: number, i: number): Code {
  const [word, shift] = [Math.floor((29 * i) / 64), (29 * i) % 64];
  const low = op('i64.shr_u', get(first + word), i64(shift));
  const high = op('i64.shl', get(first + word + 1), i64(64 - shift));
  return op('i64.and', shift > 35 && word < 3 ? op('i64.or', low, high) : low, i64(limbMask));
}

// A signal of circom's program: a 32-bit integer if bit 63 of its first word is 0, else the four words after it, in Montgomery form
// with R = 2^256 if bit 62 is 1.

/** (to, a): writes an element as a signal. A number below R reduces to at most r, and to r only if it is a multiple of r. */
function writeStore(): Code {
  const [to, a] = [0, 1];
  const locals = localsAfter(2);
  const limb = (i: number): Code => get(locals.limb + i);
  const differences = indices(limbCount).map((i) =>
    op('i64.xor', limb(i), i64(orderLimbs[i] ?? 0n)),
  );
  return encodeBody({ i32: 0, i64: locals.count }, [
    ...reduceColumns(locals, (index) => (index < limbCount ? [limbAt(a, index)] : [i64(0)])),
    ...when(
      op('i64.eqz', fold('i64.or', differences)),
      indices(limbCount).flatMap((i) => set(locals.limb + i, i64(0))),
    ),
    ...store('i64.store', get(to), i64(1n << 63n)),
    ...[0, 1, 2, 3].flatMap((i) =>
      store('i64.store', get(to), joinWord(locals.limb, limbCount, 64 * i), 8 + 8 * i),
    ),
  ]);
}

/** (to, signal, add): reads a signal as an element, and adds another one, which is not at `to`. */
function writeLoad(constants: Constants, product: number): Code {
  const [to, signal, add, tag, factor, words] = [0, 1, 2, 3, 4, 5];
  const plain = constants.placePlain((radix * radix) % scalarFieldOrder);
  const montgomery = constants.placePlain(((radix * radix) >> 256n) % scalarFieldOrder);
  const setWords = (from: number, value: (word: number) => Code): Code =>
    [0, 1, 2, 3].slice(from).flatMap((i) => set(words + i, value(i)));
  return encodeBody({ i32: 2, i64: 4 }, [
    ...set(tag, load('i32.load', get(signal), 4)),
    ...set(factor, i32(plain)),
    ...when(
      op('i32.lt_s', get(tag), i32(0)),
      [
        ...setWords(0, (i) => load('i64.load', get(signal), 8 + 8 * i)),
        ...when(op('i32.and', get(tag), i32(1 << 30)), set(factor, i32(montgomery))),
      ],
      [
        ...set(words, load('i64.load32_s', get(signal))),
        // A negative number -v means r - v.
        ...when(op('i64.lt_s', get(words), i64(0)), [
          ...set(words, op('i64.add', get(words), i64(wordsOfOrder[0] ?? 0n))),
          ...setWords(1, (i) => i64(wordsOfOrder[i] ?? 0n)),
        ]),
      ],
    ),
    ...indices(limbCount).flatMap((i) => store('i64.store32', get(to), cutLimb(words, i), 4 * i)),
    ...call(product, get(to), get(to), get(factor), get(add)),
  ]);
}

/** (to, from): copies an element. */
function writeMove(): Code {
  const code = [0, 8, 16, 24, 32].flatMap((i) =>
    store('i64.store', get(0), load('i64.load', get(1), i), i),
  );
  return encodeBody({ i32: 0, i64: 0 }, code);
}

/** A function with i32 parameters and results. */
export type FieldFunction = {
  readonly parameters: number;
  readonly results: number;
  readonly body: Code;
};

/** Indices of the functions. */
export type FieldIndices = {
  readonly sum: (terms: number) => number;
  readonly square: number;
  readonly store: number;
  readonly load: number;
  readonly move: number;
  /** The first index after them. */
  readonly next: number;
};

/** @param first index of the first function */
export function writeFieldFunctions(
  constants: Constants,
  first: number,
): { readonly functions: readonly FieldFunction[]; readonly at: FieldIndices } {
  const sums = indices(maximumTerms).map((i) => writeSumOfProducts(i + 1));
  const functions = [
    ...sums.map((body) => ({ parameters: 4, results: 0, body })),
    { parameters: 2, results: 0, body: writeSquare() },
    { parameters: 2, results: 0, body: writeStore() },
    { parameters: 3, results: 0, body: writeLoad(constants, first) },
    { parameters: 2, results: 0, body: writeMove() },
  ];
  const after = first + maximumTerms;
  const at = {
    sum: (terms: number) => first + terms - 1,
    square: after,
    store: after + 1,
    load: after + 2,
    move: after + 3,
    next: after + 4,
  };
  return { functions, at };
}
