// Powers for unpacking points: all powers are composed of w^((m-1)/2), r - 1 = 2^28·m, and from a discrete logarithm
// to a base of order 2^28 (P. Sarkar, "Computing square roots faster than the Tonelli–Shanks/Bernstein algorithm", eprint
// 2020/1407): four bits at a time, by tables. Public values only: the ephemeral point is in the sealed note.

import {
  oddPart,
  powerSteps,
  powerWindow,
  rootOfUnity,
  twoAdicity,
} from './babyjubjub-constants.ts';
import { addressOf, after } from './babyjubjub-point.ts';
import { invert, power } from './constants.ts';
import * as field from './field.ts';
import { call, get, i32, loopWhile, type ModuleWriter, op, set } from './wat.ts';

const pair = field.pairBytes;
const element = field.elementBytes;

/** Bits of the logarithm found at a time, and how many times. */
const logBits = 4;
const logWindows = twoAdicity / logBits;
const logValues = 1 << logBits;
/** Scratch that `bj_power` needs: the odd powers. */
export const powerScratchBytes = (1 << (powerWindow - 1)) * pair;

/** `bj_square(to, from, times)`: from^(2^times), times >= 1; and `bj_multiply(to, a, b)`. All pairs. */
function writeProducts(module: ModuleWriter, k: field.Field): void {
  module.func('bj_square', { params: ['to', 'from', 'times'] }, (f) => {
    const value = { ...k.loadPair(f, get('from')), ...k.stored };
    loopWhile(f, get('times'), () => {
      f.scope(() => {
        field.assign(f, value, k.sqr(f, value));
      });
      f.push(set('times', after('times', -1)));
    });
    k.storePair(f, value, get('to'));
  });
  module.func('bj_multiply', { params: ['to', 'a', 'b'] }, (f) => {
    const a = k.loadPair(f, get('a'));
    const b = k.loadPair(f, get('b'));
    k.storePair(f, k.mul(f, a, b), get('to'));
  });
  // The factors of the two lanes are single elements at different places: entries of a table.
  module.func('bj_multiplyApart', { params: ['to', 'first', 'second'] }, (f) => {
    const value = k.loadPair(f, get('to'));
    const factor = k.load(f, get('first'), get('second'), k.normal);
    k.storePair(f, k.mul(f, value, factor), get('to'));
  });
}

/** `bj_power(to, from, scratch)`: from^((m-1)/2). `to` differs from `from`. */
function writePower(module: ModuleWriter): void {
  const odd = (index: number): string => after('scratch', index * pair);
  const [first, ...rest] = powerSteps;
  if (first === undefined) throw new Error('no exponent');
  const steps = module.block(rest.map(([squarings, index]) => BigInt(squarings + (index << 8))));
  const params = ['to', 'from', 'scratch'];
  module.func('bj_power', { params }, (f) => {
    // `to` holds from² until the table is complete.
    f.push(call('bj_square', get('to'), get('from'), i32(1)));
    f.push(op('memory.copy', odd(0), get('from'), i32(pair)));
    for (let index = 1; index < 1 << (powerWindow - 1); index++) {
      f.push(call('bj_multiply', odd(index), odd(index - 1), get('to')));
    }
    f.push(op('memory.copy', get('to'), odd(first[1]), i32(pair)));
    const step = f.let('i32', i32(0));
    loopWhile(f, `(i32.lt_u ${get(step)} ${i32(8 * rest.length)})`, () => {
      f.push(
        call('bj_square', get('to'), get('to'), op('i32.load8_u', `offset=${steps}`, get(step))),
      );
      const index = op('i32.load8_u', `offset=${steps + 1}`, get(step));
      f.push(call('bj_multiply', get('to'), get('to'), addressOf('scratch', index, pair)));
      f.push(set(step, after(step, 8)));
    });
  });
}

/**
 * The logarithm of a root of unity of order 2^logBits, by its lowest 64 bits as a number in [0, r): times `factor`,
 * shifted right, they distinguish the sixteen.
 */
function findHash(k: field.Field, values: readonly bigint[]): { factor: bigint; table: number[] } {
  const words = values.map((value) => BigInt.asUintN(64, (value * k.r) % k.modulus));
  for (let factor = 1n; ; factor += 2n) {
    const table = new Array<number>(64).fill(0);
    const places = words.map((word) => Number(BigInt.asUintN(64, word * factor) >> 58n));
    if (new Set(places).size < places.length) continue;
    places.forEach((place, log) => {
      table[place] = log;
    });
    return { factor, table };
  }
}

/** Bytes into the 64-bit words of a block. */
function packBytes(bytes: readonly number[]): bigint[] {
  return Array.from({ length: Math.ceil(bytes.length / 8) }, (_, word) =>
    bytes
      .slice(8 * word, 8 * word + 8)
      .reduce((sum, byte, index) => sum | (BigInt(byte) << BigInt(8 * index)), 0n),
  );
}

/** Scratch of `bj_logarithm`, from 0: the powers, a pair, 64 bytes for two numbers. */
export const logScratchBytes = (logWindows + 1) * pair + 64;

/**
 * `bj_logarithm(root, to, value, scratch)`: writes the logarithms e of both lanes of `value` (i32 each, base
 * rootOfUnity) to `to`, and multiplies the pair `root` by rootOfUnity^(-⌊e/2⌋). Lanes whose value is 0 get an arbitrary e.
 */
function writeLogarithm(module: ModuleWriter, k: field.Field): void {
  const r = k.modulus;
  const inverse = invert(rootOfUnity, r);
  // Row j, column d: rootOfUnity^(-d·16^j).
  const inverses = module.block(
    Array.from({ length: logWindows * logValues }, (_, index) => {
      const exponent = BigInt(index % logValues) << BigInt(logBits * Math.floor(index / logValues));
      return k.encode(power(inverse, exponent, r));
    }).flat(),
  );
  const small = power(rootOfUnity, 1n << BigInt(logBits * (logWindows - 1)), r);
  const values = Array.from({ length: logValues }, (_, log) => power(small, BigInt(log), r));
  const { factor, table } = findHash(k, values);
  const logs = module.block(packBytes(table));
  const params = ['root', 'to', 'value', 'scratch'];
  module.func('bj_logarithm', { params }, (f) => {
    const powerAt = (window: number): string => after('scratch', window * pair);
    const current = after('scratch', logWindows * pair);
    const numbers = (logWindows + 1) * pair;
    const found = [f.let('i32', i32(0)), f.let('i32', i32(0))];
    // Multiplies a pair by rootOfUnity^(-digit·16^row), the digit being window `window` of each lane's exponent.
    const divide = (pair: string, exponents: readonly string[], window: number, row: number) => {
      const entries = exponents.map((exponent) => {
        const shifted = op('i32.shr_u', exponent, i32(logBits * window));
        const digit = op('i32.and', shifted, i32(logValues - 1));
        const offset = op('i32.mul', digit, i32(element));
        return op('i32.add', offset, i32(inverses + row * logValues * element));
      });
      f.push(call('bj_multiplyApart', pair, ...entries));
    };
    f.push(op('memory.copy', powerAt(0), get('value'), i32(pair)));
    for (let window = 1; window < logWindows; window++) {
      f.push(call('bj_square', powerAt(window), powerAt(window - 1), i32(logBits)));
    }
    for (let window = 0; window < logWindows; window++) {
      const shift = logWindows - 1 - window;
      f.push(op('memory.copy', current, powerAt(shift), i32(pair)));
      for (let known = 0; known < window; known++) {
        divide(current, found.map(get), known, known + shift);
      }
      f.scope(() => {
        const pair = k.loadPair(f, current);
        k.storeBytes(f, pair, after('scratch', numbers), after('scratch', numbers + 32));
      });
      found.forEach((exponent, lane) => {
        const word = op('i64.load', `offset=${numbers + 32 * lane}`, get('scratch'));
        const hash = op(
          'i64.shr_u',
          op('i64.mul', word, `(i64.const ${factor})`),
          '(i64.const 58)',
        );
        const digit = op('i32.load8_u', `offset=${logs}`, op('i32.wrap_i64', hash));
        const placed = op('i32.shl', digit, i32(logBits * window));
        f.push(set(exponent, op('i32.or', get(exponent), placed)));
      });
    }
    for (let window = 0; window < logWindows; window++) {
      const halves = found.map((exponent) => op('i32.shr_u', get(exponent), i32(1)));
      divide(get('root'), halves, window, window);
    }
    found.forEach((exponent, lane) => {
      f.push(op('i32.store', `offset=${4 * lane}`, get('to'), get(exponent)));
    });
  });
}

/** Writes bj_square, bj_multiply, bj_multiplyApart, bj_power and bj_logarithm. */
export function writePowerFunctions(module: ModuleWriter, k: field.Field): void {
  if (oddPart % 4n !== 3n) throw new Error('the exponent (m-1)/2 must be odd');
  writeProducts(module, k);
  writePower(module);
  writeLogarithm(module, k);
}
