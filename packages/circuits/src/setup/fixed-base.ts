/**
 * Many multiples of a generator: a table of its windowed multiples, then signed digits and batches of affine additions. Output
 * is what a `.zkey` stores: coordinates times 2^256 mod q, 32 bytes little-endian each; all zeros for the point at infinity.
 *
 * @module
 */
import { BASE_FIELD_ORDER as Q } from '../field.ts';
import {
  type AffineGroup,
  affineGroups,
  type Coordinates,
  type GroupName,
} from './affine-groups.ts';

/** Bytes of a scalar: little-endian, below r. */
export const SCALAR_BYTES = 32;
const COORDINATE_BYTES = 32;
const SCALAR_BITS = 254;

export const pointBytes = (group: GroupName): number =>
  affineGroups[group].width * COORDINATE_BYTES;

/** One window more than the bits need, so that the carry of the last signed digit always fits. */
const countWindows = (windowBits: number): number => Math.floor(SCALAR_BITS / windowBits) + 1;

/** The window that costs fewest additions for this many multiples, table included. */
export const chooseWindowBits = (multiples: number): number => {
  let best = 4;
  const cost = (bits: number) => countWindows(bits) * (multiples + 2 ** (bits - 1));
  for (let bits = 5; bits <= 15; bits++) {
    if (cost(bits) < cost(best)) {
      best = bits;
    }
  }
  return best;
};

const createColumns = (width: number, length: number): bigint[][] =>
  Array.from({ length: width }, () => new Array<bigint>(length).fill(0n));

/**
 * Table of d * 2^(bits * window) * generator for d = 1..2^(bits-1), at index window * 2^(bits-1) + d - 1. Built by doubling: the
 * multiples k+1..2k are the multiples 1..k plus the k-th, in all windows at once.
 */
const buildTable = (group: AffineGroup, bits: number): Coordinates => {
  const windows = countWindows(bits);
  const half = 2 ** (bits - 1);
  const table = createColumns(group.width, windows * half);
  for (let window = 0; window < windows; window++) {
    group.computeBase(bits * window).forEach((value, c) => {
      (table[c] ?? [])[window * half] = value;
    });
  }
  for (let known = 1; known < half; known *= 2) {
    const targets = new Uint32Array(windows * known);
    const addends = createColumns(group.width, windows * known);
    for (let window = 0; window < windows; window++) {
      for (let d = 0; d < known; d++) {
        const k = window * known + d;
        const target = window * half + known + d;
        targets[k] = target;
        for (let c = 0; c < group.width; c++) {
          const column = table[c] ?? [];
          column[target] = column[window * half + d] ?? 0n;
          (addends[c] ?? [])[k] = column[window * half + known - 1] ?? 0n;
        }
      }
    }
    group.addBatch(table, targets, addends, targets.length);
  }
  return table;
};

/** Signed digits in -2^(bits-1) + 1 .. 2^(bits-1) of each scalar; digit of window w and scalar i at w * count + i. */
const recode = (scalars: Uint8Array, count: number, bits: number): Int32Array => {
  const windows = countWindows(bits);
  const half = 2 ** (bits - 1);
  const digits = new Int32Array(windows * count);
  for (let i = 0; i < count; i++) {
    let carry = 0;
    const byteAt = (index: number) =>
      index < SCALAR_BYTES ? (scalars[i * SCALAR_BYTES + index] ?? 0) : 0;
    for (let window = 0; window < windows; window++) {
      const bit = window * bits;
      const byte = bit >> 3;
      const word = byteAt(byte) | (byteAt(byte + 1) << 8) | (byteAt(byte + 2) << 16);
      const digit = ((word >> (bit & 7)) & (2 ** bits - 1)) + carry;
      carry = digit > half ? 1 : 0;
      digits[window * count + i] = digit - carry * 2 ** bits;
    }
  }
  return digits;
};

const WORD = (1n << 64n) - 1n;

const writeCoordinate = (view: DataView, offset: number, value: bigint): void => {
  const montgomery = (value << 256n) % Q;
  view.setBigUint64(offset, montgomery & WORD, true);
  view.setBigUint64(offset + 8, (montgomery >> 64n) & WORD, true);
  view.setBigUint64(offset + 16, (montgomery >> 128n) & WORD, true);
  view.setBigUint64(offset + 24, montgomery >> 192n, true);
};

/** scalars (count * 32 bytes) to points (count * pointBytes). */
export type FixedBase = (scalars: Uint8Array, output: Uint8Array) => void;

/** Prepares the table of a group's generator; the returned function multiplies it by a chunk of scalars. */
export const createFixedBase = (name: GroupName, windowBits: number): FixedBase => {
  const group = affineGroups[name];
  const table = buildTable(group, windowBits);
  const windows = countWindows(windowBits);
  const half = 2 ** (windowBits - 1);
  return (scalars, output) => {
    const count = scalars.length / SCALAR_BYTES;
    const digits = recode(scalars, count, windowBits);
    const points = createColumns(group.width, count);
    const targets = new Uint32Array(count);
    const addends = createColumns(group.width, count);
    for (let window = 0; window < windows; window++) {
      let used = 0;
      for (let i = 0; i < count; i++) {
        const digit = digits[window * count + i] ?? 0;
        if (digit === 0) {
          continue;
        }
        const entry = window * half + Math.abs(digit) - 1;
        for (let c = 0; c < group.width; c++) {
          const value = table[c]?.[entry] ?? 0n;
          const isNegated = digit < 0 && c >= group.width / 2 && value !== 0n;
          (addends[c] ?? [])[used] = isNegated ? Q - value : value;
        }
        targets[used++] = i;
      }
      group.addBatch(points, targets, addends, used);
    }
    const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
    for (let i = 0; i < count; i++) {
      points.forEach((column, c) => {
        writeCoordinate(view, (i * group.width + c) * COORDINATE_BYTES, column[i] ?? 0n);
      });
    }
  };
};
