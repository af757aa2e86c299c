/**
 * The templates of circom/secp256k1-sum.circom and secp256k1-zero.circom as functions on the memory of their witness program: they write
 * every signal of the component. What the templates assert about products of polynomials holds for all values, so only the range checks
 * of ZeroModP remain.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { elementBytes, indices } from './field-functions.ts';
import {
  type Range,
  signalAt,
  type Toolkit,
  useOriginal,
  writeBody,
  writeDigits,
} from './range-functions.ts';
import { type Code, call, i32 } from './wasm-code.ts';

const { Fr } = bn254.fields;
const secp256k1Prime = secp256k1.Point.Fp.ORDER;

/** Coefficients of a slope and of an x. */
const length = 8;
/** Most products in one call. */
const maximumTerms = 7;

/** Calls of the field's functions on elements at addresses. */
function createCalls({ constants, at }: Toolkit) {
  const zero = constants.place([0n]);
  /** The sum of a_i b_i for `count` elements one after another at a and at b, plus `add`. */
  const sum = (count: number, to: number, a: number, b: number, add = zero): Code => {
    const terms = Math.min(count, maximumTerms);
    const first = call(at.sum(terms), i32(to), i32(a), i32(b), i32(add));
    const [restA, restB] = [a, b].map((start) => start + terms * elementBytes);
    return count === terms
      ? first
      : [...first, ...sum(count - terms, to, restA ?? 0, restB ?? 0, to)];
  };
  return {
    sum,
    load: (to: number, signal: number, add = zero): Code =>
      call(at.load, i32(to), signalAt(signal), i32(add)),
    store: (signal: number, element: number): Code =>
      call(at.store, signalAt(signal), i32(element)),
  };
}

/** Elements in scratch memory. The first two are for {@link writeDigits}. */
function listElements(scratch: number, start: number, count: number): number[] {
  return indices(count).map((i) => scratch + elementBytes * (2 + start + i));
}

/** The coefficients of a product of polynomials with `length` coefficients, those of the first one backwards. */
function multiplyPolynomials(
  { sum }: ReturnType<typeof createCalls>,
  to: readonly number[],
  backwards: readonly number[],
  other: readonly number[],
): Code {
  return to.flatMap((target, j) => {
    const skipped = Math.max(0, length - 1 - j);
    const first = Math.max(0, j - length + 1);
    return sum(length - skipped - first, target, backwards[skipped] ?? 0, other[first] ?? 0);
  });
}

/** Chord: product[15], lambda[8], t[4], x[8]. */
export function writeChord(toolkit: Toolkit): Code {
  const calls = createCalls(toolkit);
  const { sum, load, store } = calls;
  const minusOne = toolkit.constants.place([Fr.neg(1n)]);
  const slope = listElements(toolkit.scratch, 0, length);
  const difference = listElements(toolkit.scratch, length, length);
  const product = listElements(toolkit.scratch, 2 * length, 2 * length - 1);
  const [lambda, t, x] = [15, 23, 27];
  return writeBody([
    ...slope.flatMap((element, i) => load(element, lambda + length - 1 - i)),
    ...difference.flatMap((element, i) => {
      const [term = 0] = product;
      return [
        ...load(element, x + i),
        ...(i % 2 === 0 ? load(term, t + i / 2) : []),
        ...sum(1, element, element, minusOne, i % 2 === 0 ? term : undefined),
      ];
    }),
    ...multiplyPolynomials(calls, product, slope, difference),
    ...product.flatMap((element, j) => store(j, element)),
  ]);
}

/** NextX: next[8], lambda[8], x[8], t[4], high[7]. */
export function writeNextX(toolkit: Toolkit): Code {
  const calls = createCalls(toolkit);
  const { sum, load, store } = calls;
  const minusOne = toolkit.constants.place([Fr.neg(1n)]);
  const fold = toolkit.constants.place([1n, 977n]);
  const slope = listElements(toolkit.scratch, 0, length);
  const backwards = listElements(toolkit.scratch, length, length);
  const square = listElements(toolkit.scratch, 2 * length, 2 * length - 1);
  const [next = 0, term = 0] = listElements(toolkit.scratch, 4 * length, 2);
  const [lambda, x, t, high] = [8, 16, 24, 28];
  return writeBody([
    ...slope.flatMap((element, i) => load(element, lambda + i)),
    ...backwards.flatMap((element, i) => load(element, lambda + length - 1 - i)),
    ...multiplyPolynomials(calls, square, backwards, slope),
    ...square.slice(length).flatMap((element, j) => store(high + j, element)),
    ...indices(length).flatMap((i) => {
      // Of coefficients 7 + i and 8 + i, the first folds into all but next_0, and the second into all but next_7.
      const skipped = i === 0 ? 1 : 0;
      const terms = 2 - skipped - (i === length - 1 ? 1 : 0);
      const factor = fold + elementBytes * skipped;
      return [
        ...sum(terms, next, square[length - 1 + i + skipped] ?? 0, factor, square[i]),
        ...load(term, x + i),
        ...sum(1, next, term, minusOne, next),
        ...(i % 2 === 0 ? [...load(term, t + i / 2), ...sum(1, next, term, minusOne, next)] : []),
        ...store(i, next),
      ];
    }),
  ]);
}

/** ZeroModP: first[15], second[15], low[2], high[2], q, carry, and the components carryRange and qRange. */
export function writeZeroModP(
  toolkit: Toolkit,
  ranges: { readonly q: Range; readonly carry: Range },
  original: number,
): Code {
  const { sum, load, store } = createCalls(toolkit);
  const { place } = toolkit.constants;
  const coefficients = 2 * length - 1;
  const [second, low, high, q, carry, parts] = [15, 30, 32, 34, 35, 36];
  const elements = listElements(toolkit.scratch, 0, coefficients + 4);
  const [first = 0] = elements;
  const [lowElement = 0, highElement = 0, qElement = 0, carryElement = 0] =
    elements.slice(coefficients);
  /** What coefficient j adds to the sum of v_i 2^(32 i) for i < count. */
  const weight = (j: number, count: number): bigint => {
    const power = (i: number): bigint => (i < count ? 1n << BigInt(32 * i) : 0n);
    return j < length ? power(j) : 977n * power(j - length) + power(j - length + 1);
  };
  const all = indices(coefficients);
  const perPrime = Fr.inv(Fr.create(secp256k1Prime));
  const perPower = Fr.inv(Fr.create(1n << 160n));
  const scale = (values: readonly bigint[], factor: bigint): bigint[] =>
    values.map((value) => Fr.mul(Fr.create(value), factor));
  const factorsOfQ = scale([...all.map((j) => weight(j, length)), -1n, -(1n << 160n)], perPrime);
  const complement = (1n << 256n) - secp256k1Prime;
  const factorsOfCarry = scale([...all.map((j) => weight(j, 5)), -1n, 0n, complement], perPower);
  const loadSum = (element: number, signal: number, other: number): Code => [
    ...load(carryElement, signal),
    ...load(element, other, carryElement),
  ];
  const one = place([1n]);
  const writeRange = (at: number, element: number, { width, offset }: Range): Code => [
    ...store(at, element),
    ...sum(1, element, element, one, place([offset])),
    ...writeDigits(toolkit, element, signalAt(at + 1), width - 1, width, useOriginal(original)),
  ];
  return writeBody([
    ...all.flatMap((j) => {
      return loadSum(elements[j] ?? 0, j, second + j);
    }),
    ...[lowElement, highElement].flatMap((element, i) => {
      const signal = i === 0 ? low : high;
      return loadSum(element, signal, signal + 1);
    }),
    ...sum(factorsOfQ.length, qElement, first, place(factorsOfQ)),
    ...store(q, qElement),
    ...sum(factorsOfCarry.length, carryElement, first, place(factorsOfCarry)),
    ...store(carry, carryElement),
    ...writeRange(parts, carryElement, ranges.carry),
    ...writeRange(parts + ranges.carry.width, qElement, ranges.q),
  ]);
}
