/**
 * Many multiples of a generator: a table of its windowed multiples, then signed digits and batches of affine additions. Output
 * is what a `.zkey` stores: coordinates times 2^256 mod q, 32 bytes little-endian each; all zeros for the point at infinity.
 *
 * @module
 */
import {
  type AffineGroup,
  type Columns,
  countScratch,
  createAffineGroup,
  type GroupName,
  groupWidth,
} from './affine-groups.ts';
import { createFieldVectors } from './field-vectors.ts';
import { ELEMENT_BYTES } from './scalars.ts';

const SCALAR_BITS = 254;
/** Additions that share an inversion. */
const BATCH = 2048;

export const pointBytes = (group: GroupName): number => groupWidth[group] * ELEMENT_BYTES;

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

/**
 * Table of d * 2^(bits * window) * generator for d = 1..2^(bits-1), at index window * 2^(bits-1) + d - 1. Built by doubling: the
 * multiples k+1..2k are the multiples 1..k plus the k-th, in all windows at once.
 */
const buildTable = (group: AffineGroup, bits: number, addends: Columns): Columns => {
  const windows = countWindows(bits);
  const half = 2 ** (bits - 1);
  const table = group.allocate(windows * half);
  for (let window = 0; window < windows; window++) {
    group.setBase(table, window * half, bits * window);
  }
  const targets = new Uint32Array(BATCH);
  for (let known = 1; known < half; known *= 2) {
    let used = 0;
    for (let window = 0; window < windows; window++) {
      for (let d = 0; d < known; d++) {
        const target = window * half + known + d;
        group.copy(table, target, table, window * half + d);
        group.copy(addends, used, table, window * half + known - 1);
        targets[used++] = target;
        if (used === BATCH) {
          group.addBatch(table, targets, addends, used);
          used = 0;
        }
      }
    }
    group.addBatch(table, targets, addends, used);
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
      index < ELEMENT_BYTES ? (scalars[i * ELEMENT_BYTES + index] ?? 0) : 0;
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

/** scalars (count * 32 bytes) to points (count * pointBytes). */
export type FixedBase = (scalars: Uint8Array, output: Uint8Array) => void;

/** Prepares the table of a group's generator; the returned function multiplies it by any number of scalars. */
export const createFixedBase = async (name: GroupName, windowBits: number): Promise<FixedBase> => {
  const windows = countWindows(windowBits);
  const half = 2 ** (windowBits - 1);
  const width = groupWidth[name];
  const vectors = await createFieldVectors({
    elements: width * (windows * half + 2 * BATCH) + countScratch(BATCH),
    longest: BATCH,
  });
  const group = createAffineGroup(name, vectors, BATCH);
  const addends = group.allocate(BATCH);
  const points = group.allocate(BATCH);
  const targets = new Uint32Array(BATCH);
  const table = buildTable(group, windowBits, addends);

  const multiply = (scalars: Uint8Array, output: Uint8Array): void => {
    const count = scalars.length / ELEMENT_BYTES;
    const digits = recode(scalars, count, windowBits);
    for (const column of points) {
      vectors.doubles.fill(0, column / 8, column / 8 + 5 * count);
    }
    for (let window = 0; window < windows; window++) {
      let used = 0;
      for (let i = 0; i < count; i++) {
        const digit = digits[window * count + i] ?? 0;
        if (digit > 0) {
          group.copy(addends, used, table, window * half + digit - 1);
          targets[used++] = i;
        } else if (digit < 0) {
          group.copyNegated(addends, used, table, window * half - digit - 1);
          targets[used++] = i;
        }
      }
      group.addBatch(points, targets, addends, used);
    }
    points.forEach((column, c) => {
      const coordinates = vectors.exportIntegers(column, count, true);
      for (let i = 0; i < count; i++) {
        output.set(
          coordinates.subarray(i * ELEMENT_BYTES, (i + 1) * ELEMENT_BYTES),
          (i * width + c) * ELEMENT_BYTES,
        );
      }
    });
  };
  return (scalars, output) => {
    const total = scalars.length / ELEMENT_BYTES;
    for (let first = 0; first < total; first += BATCH) {
      const last = Math.min(total, first + BATCH);
      multiply(
        scalars.subarray(first * ELEMENT_BYTES, last * ELEMENT_BYTES),
        output.subarray(first * width * ELEMENT_BYTES, last * width * ELEMENT_BYTES),
      );
    }
  };
};
