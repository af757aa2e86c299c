/**
 * The templates InRange and ToBits as functions on the memory of their witness program: they write every signal of the component. If the
 * value is out of range, the compiled template computes, and fails as before.
 *
 * @module
 */
import {
  type Constants,
  elementBytes,
  type FieldFunction,
  type FieldIndices,
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
  repeat,
  set,
  store,
  when,
} from './wasm-code.ts';

export type Range = { readonly width: number; readonly offset: bigint };

/** What the functions of all templates share. */
export type Toolkit = {
  readonly constants: Constants;
  readonly at: FieldIndices;
  /** Address of elements that are free between two calls. Secret. */
  readonly scratch: number;
  /** Index of the function of {@link writeBits}. */
  readonly bits: number;
};

const returnNow = 0x0f;
const [component, signals] = [0, 1];

export function signalAt(index: number): Code {
  return op('i32.add', get(signals), i32(elementBytes * index));
}
const findSignals: Code = set(signals, load('i32.load', get(component), 4));

/** Gives the component to the compiled template, and returns its result. */
export function useOriginal(original: number): Code {
  return [...call(original, get(component)), returnNow];
}

/** (words, to, count): writes `count` > 0 binary digits of a number as signals, the lowest first. */
export function writeBits(): FieldFunction {
  const [words, to, count, i] = [0, 1, 2, 3];
  const word = op('i32.add', get(words), op('i32.shl', op('i32.shr_u', get(i), i32(6)), i32(3)));
  const shift = op('i64.extend_i32_u', op('i32.and', get(i), i32(63)));
  const bit = op('i64.and', op('i64.shr_u', load('i64.load', word), shift), i64(1));
  const target = op('i32.add', get(to), op('i32.mul', get(i), i32(elementBytes)));
  const body = encodeBody({ i32: 1, i64: 0 }, [
    ...repeat(
      [...store('i64.store', target, bit), ...set(i, op('i32.add', get(i), i32(1)))],
      op('i32.ne', get(i), get(count)),
    ),
  ]);
  return { parameters: 3, results: 0, body };
}

/** Whether the number in four words at an address has more than `width` binary digits. */
function isLonger(words: number, width: number): Code {
  const rests = [0, 1, 2, 3].flatMap((i) => {
    const word = load('i64.load', i32(words), 8 * i);
    const kept = width - 64 * i;
    if (kept >= 64) return [];
    return [kept <= 0 ? word : op('i64.shr_u', word, i64(kept))];
  });
  return op('i32.eqz', op('i64.eqz', fold('i64.or', rests)));
}

/**
 * Writes digits of an element, the lowest first.
 * @param element its address
 * @param count digits that are written
 * @param fail code for an element with more than `width` digits
 */
export function writeDigits(
  { at, scratch, bits }: Toolkit,
  element: number,
  to: Code,
  count: number,
  width: number,
  fail: Code,
): Code {
  const words = scratch + 8;
  return [
    ...call(at.store, i32(scratch), i32(element)),
    ...when(isLonger(words, width), fail),
    ...call(bits, i32(words), to, i32(count)),
  ];
}

/** The body of a template's function. It returns 0 at its end. */
export function writeBody(code: Code): Code {
  return encodeBody({ i32: 1, i64: 0 }, [...findSignals, ...code, ...i32(0)]);
}

/** InRange(width, offset). Its signals are the value, and all digits but the last. */
export function writeInRange(toolkit: Toolkit, range: Range, original: number): Code {
  const { constants, at, scratch } = toolkit;
  const { width, offset } = range;
  const element = scratch + elementBytes;
  return writeBody([
    ...call(at.load, i32(element), signalAt(0), i32(constants.place([offset]))),
    ...writeDigits(toolkit, element, signalAt(1), width - 1, width, useOriginal(original)),
  ]);
}

/** ToBits(n). Its signals are the digits, and the value. */
export function writeToBits(toolkit: Toolkit, n: number, original: number): Code {
  const { constants, at, scratch } = toolkit;
  const element = scratch + elementBytes;
  return writeBody([
    ...call(at.load, i32(element), signalAt(n), i32(constants.place([0n]))),
    ...writeDigits(toolkit, element, signalAt(0), n, n, useOriginal(original)),
  ]);
}
