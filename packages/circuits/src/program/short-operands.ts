/**
 * Products and sums of circom's program that need no arithmetic modulo r: of two small integers, such as indices of arrays, with 0, and
 * with 1, such as the digits of a number. The program's own function computes all others.
 *
 * @module
 */
import {
  type Code,
  call,
  encodeBody,
  get,
  i32,
  i64,
  load,
  op,
  set,
  store,
  when,
} from './wasm-code.ts';

const [to, a, b] = [0, 1, 2];
const returnNow = 0x0f;

/** A signal or variable is a 32-bit integer if the highest bit of its second word is 0. */
function isShort(...operands: readonly number[]): Code {
  const words = operands.map((operand) => load('i32.load', get(operand), 4));
  return op(
    'i32.ge_s',
    words.reduce((left, right) => op('i32.or', left, right)),
    i32(0),
  );
}

function numberAt(operand: number): Code {
  return load('i32.load', get(operand));
}

/** If the operand is the short integer `value`: the result is the other operand. */
function copyIf(operand: number, value: number, copy: number): Code {
  const other = operand === a ? b : a;
  const isValue = op('i32.eq', numberAt(operand), i32(value));
  return when(op('i32.and', isShort(operand), isValue), [
    ...call(copy, get(to), get(other)),
    returnNow,
  ]);
}

/** If the operand is the short integer 0: the result is 0. */
function clearIf(operand: number): Code {
  const isZero = op('i32.eq', numberAt(operand), i32(0));
  return when(op('i32.and', isShort(operand), isZero), [
    ...store('i64.store', get(to), i64(0)),
    returnNow,
  ]);
}

/**
 * (to, a, b) for Fr_mul.
 * @param copy index of Fr_copy
 * @param original index of the program's function
 */
export function writeProduct(copy: number, original: number): Code {
  const product = 3;
  const signed = (operand: number): Code => load('i64.load32_s', get(operand));
  const low = op('i64.and', get(product), i64(0xffff_ffffn));
  const fits = op('i64.eq', op('i64.extend32_s', get(product)), get(product));
  return encodeBody({ i32: 0, i64: 1 }, [
    ...when(isShort(a, b), [
      ...set(product, op('i64.mul', signed(a), signed(b))),
      ...when(fits, [...store('i64.store', get(to), low), returnNow]),
    ]),
    ...[a, b].flatMap((operand) => [...clearIf(operand), ...copyIf(operand, 1, copy)]),
    ...call(original, get(to), get(a), get(b)),
  ]);
}

/** (to, a, b) for Fr_add. */
export function writeSum(copy: number, original: number): Code {
  return encodeBody({ i32: 0, i64: 0 }, [
    ...[a, b].flatMap((operand) => copyIf(operand, 0, copy)),
    ...call(original, get(to), get(a), get(b)),
  ]);
}
