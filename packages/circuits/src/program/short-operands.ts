/**
 * Operations of circom's program that need no arithmetic modulo r: those on two small integers, such as indices of arrays, and those with
 * 0 and 1, such as the digits of a number. The program's own function computes all others.
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

/** Whether the operand is the small number `value`: a short one, or four words, in Montgomery form with R = 2^256 or not. */
function isNumber(operand: number, value: bigint): Code {
  const word = (index: number): Code => load('i64.load', get(operand), 8 * index);
  const isLong = (form: bigint, number: bigint): Code => {
    const differences = [0, 1, 2, 3].map((i) =>
      op('i64.xor', word(1 + i), i64(number >> BigInt(64 * i))),
    );
    const isSame = op('i64.eqz', fold('i64.or', differences));
    return op('i32.and', op('i64.eq', word(0), i64(form << 62n)), isSame);
  };
  const isShortNumber = op('i32.eq', numberAt(operand), i32(Number(value)));
  return fold('i32.or', [
    op('i32.and', isShort(operand), isShortNumber),
    isLong(2n, value),
    isLong(3n, (value << 256n) % scalarFieldOrder),
  ]);
}

/** If the operand is `value`: the result is the other operand. */
function copyIf(operand: number, value: bigint, copy: number): Code {
  const other = operand === a ? b : a;
  return when(isNumber(operand, value), [...call(copy, get(to), get(other)), returnNow]);
}

/** If the operand is 0: the result is 0. */
function clearIf(operand: number): Code {
  return when(isNumber(operand, 0n), [...store('i64.store', get(to), i64(0)), returnNow]);
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
    ...[a, b].flatMap((operand) => [...clearIf(operand), ...copyIf(operand, 1n, copy)]),
    ...call(original, get(to), get(a), get(b)),
  ]);
}

/** (to, a, b) for Fr_add. */
export function writeSum(copy: number, original: number): Code {
  return encodeBody({ i32: 0, i64: 0 }, [
    ...[a, b].flatMap((operand) => copyIf(operand, 0n, copy)),
    ...call(original, get(to), get(a), get(b)),
  ]);
}

/** (to, a, b) for Fr_idiv and Fr_mod, which compute indices of arrays. */
function writeDivision(operator: 'i32.div_u' | 'i32.rem_u', original: number): Code {
  const [dividend, divisor] = [numberAt(a), numberAt(b)];
  const isPositive = op('i32.ge_s', op('i32.or', dividend, divisor), i32(0));
  const isDefined = op('i32.ne', divisor, i32(0));
  return encodeBody({ i32: 0, i64: 0 }, [
    ...when(fold('i32.and', [isShort(a, b), isPositive, isDefined]), [
      ...store('i64.store', get(to), op('i64.extend_i32_u', op(operator, dividend, divisor))),
      returnNow,
    ]),
    ...call(original, get(to), get(a), get(b)),
  ]);
}

export function writeQuotient(original: number): Code {
  return writeDivision('i32.div_u', original);
}
export function writeRemainder(original: number): Code {
  return writeDivision('i32.rem_u', original);
}
