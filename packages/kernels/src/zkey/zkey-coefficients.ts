/**
 * Section 4 of a proving key, the entries of the matrices A and B, in its two encodings.
 *
 * Standard: u32 number of entries, then for each entry u32 matrix (0 is A, 1 is B), u32 row, u32 wire and the value, 32 bytes.
 *
 * Compact: u32 number of entries, u32 number of distinct values, the values (32 bytes each). Three columns follow, each with its
 * u32 length in bytes and one LEB128 number per entry: the difference of `2 row + matrix` to the previous entry (zigzag, the
 * first from 0), the difference of wires (likewise), and the index of the value. The order of the entries is kept, so that each
 * form can be converted into the other byte for byte.
 *
 * Values are times 2^512 mod r, little-endian, below r.
 *
 * @module
 */
import { areBelowOrder } from '../runtime/integers.ts';
import {
  type ByteSource,
  type ZkeyForm,
  ZkeyFormatError,
  type ZkeySectionPlace,
} from './zkey-format.ts';

// The distinct values of matrices, numbered in the order of their first occurrence: millions of entries share a few thousand.
/** Numbers distinct 32-byte values with open addressing over their words. */
export function createDictionary() {
  let words: Uint32Array<ArrayBuffer> = new Uint32Array(8 * 64);
  let slots = new Int32Array(256).fill(-1);
  let count = 0;

  const hash = (source: Uint32Array, start: number): number => {
    let mixed = 0;
    for (let i = 0; i < 8; i++) {
      mixed = Math.imul(mixed ^ (source[start + i] ?? 0), 0x9e3779b1);
      mixed ^= mixed >>> 15;
    }
    return mixed >>> 0;
  };
  const isAt = (index: number, source: Uint32Array, start: number): boolean => {
    for (let i = 0; i < 8; i++) {
      if (words[8 * index + i] !== source[start + i]) {
        return false;
      }
    }
    return true;
  };
  const findSlot = (source: Uint32Array, start: number): number => {
    const mask = slots.length - 1;
    let slot = hash(source, start) & mask;
    for (;;) {
      const index = slots[slot] ?? -1;
      if (index < 0 || isAt(index, source, start)) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
  };
  const grow = (): void => {
    const larger = new Uint32Array(words.length * 2);
    larger.set(words);
    words = larger;
    slots = new Int32Array(slots.length * 2).fill(-1);
    for (let index = 0; index < count; index++) {
      slots[findSlot(words, 8 * index)] = index;
    }
  };

  return {
    /** @returns the number of the value in the eight words from `start` */
    add: (source: Uint32Array, start: number): number => {
      let slot = findSlot(source, start);
      const known = slots[slot] ?? -1;
      if (known >= 0) {
        return known;
      }
      if (8 * (count + 1) > words.length) {
        grow();
        slot = findSlot(source, start);
      }
      words.set(source.subarray(start, start + 8), 8 * count);
      slots[slot] = count;
      return count++;
    },
    values: (): Uint8Array => new Uint8Array(words.slice(0, 8 * count).buffer),
  };
}

function malformed(what: string): ZkeyFormatError {
  return new ZkeyFormatError(
    `The matrices in the proving key are damaged: ${what}. Fetch or build it again.`,
  );
}

function assertBelowOrder(values: Uint8Array): void {
  if (!areBelowOrder('scalar', values)) throw malformed('a value is not below the field order');
}

/** Entry k: matrix[k], row[k], wire[k], values[value[k]]. */
export type ZkeyCoefficients = {
  readonly matrix: Uint8Array;
  readonly row: Uint32Array;
  readonly wire: Uint32Array;
  readonly value: Uint32Array;
  /** Distinct values times 2^512 mod r, 32 bytes little-endian each. */
  readonly values: Uint8Array;
};

/** Exclusive upper bounds of rows and wires. */
export type CoefficientLimits = { readonly domainSize: number; readonly wires: number };

export const recordBytes = 44;
const recordWords = recordBytes / 4;
export const valueBytes = 32;
/** Records read at a time: about 700 KB. */
export const chunkRecords = 16_384;

async function readUint32(source: ByteSource, position: number): Promise<number> {
  const bytes = new Uint8Array(4);
  await source.read(position, bytes);
  return new DataView(bytes.buffer).getUint32(0, true);
}

async function readStandard(
  source: ByteSource,
  place: ZkeySectionPlace,
  { domainSize, wires }: CoefficientLimits,
): Promise<ZkeyCoefficients> {
  const entries = await countZkeyCoefficients('standard', source, place);
  const matrix = new Uint8Array(entries);
  const row = new Uint32Array(entries);
  const wire = new Uint32Array(entries);
  const value = new Uint32Array(entries);
  const dictionary = createDictionary();
  const words = new Uint32Array(Math.min(entries, chunkRecords) * recordWords);
  for (let first = 0; first < entries; first += chunkRecords) {
    const count = Math.min(chunkRecords, entries - first);
    await source.read(
      place.start + 4 + first * recordBytes,
      new Uint8Array(words.buffer, 0, count * recordBytes),
    );
    for (let i = 0, at = 0; i < count; i++, at += recordWords) {
      const entryMatrix = words[at] ?? 0;
      const entryRow = words[at + 1] ?? 0;
      const entryWire = words[at + 2] ?? 0;
      if (entryMatrix > 1 || entryRow >= domainSize || entryWire >= wires) {
        throw malformed(`entry ${first + i} lies outside the matrices`);
      }
      matrix[first + i] = entryMatrix;
      row[first + i] = entryRow;
      wire[first + i] = entryWire;
      value[first + i] = dictionary.add(words, at + 3);
    }
  }
  const values = dictionary.values();
  assertBelowOrder(values);
  return { matrix, row, wire, value, values };
}

async function readCompact(
  source: ByteSource,
  place: ZkeySectionPlace,
  { domainSize, wires }: CoefficientLimits,
): Promise<ZkeyCoefficients> {
  const bytes = new Uint8Array(place.length);
  await source.read(place.start, bytes);
  const view = new DataView(bytes.buffer);
  let position = 0;
  const takeUint32 = (): number => {
    if (position + 4 > bytes.length) {
      throw malformed('it ends too early');
    }
    position += 4;
    return view.getUint32(position - 4, true);
  };
  const entries = takeUint32();
  const distinct = takeUint32();
  // An entry takes at least three bytes. This bounds the memory that a wrong count can make us reserve.
  if (distinct * valueBytes + entries * 3 + 12 > bytes.length - position) {
    throw malformed('it ends too early');
  }
  const values = bytes.slice(position, position + distinct * valueBytes);
  position += values.length;
  assertBelowOrder(values);
  const takeNumber = (end: number): number => {
    let result = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[position] ?? 0;
      if (position++ >= end) {
        break;
      }
      result = (result | ((byte & 0x7f) << shift)) >>> 0;
      if (byte < 0x80) {
        return result;
      }
    }
    throw malformed('a number is longer than its column');
  };
  const takeColumn = (store: (entry: number, coded: number) => void): void => {
    const length = takeUint32();
    const end = position + length;
    if (end > bytes.length) {
      throw malformed('it ends too early');
    }
    for (let entry = 0; entry < entries; entry++) {
      store(entry, takeNumber(end));
    }
    if (position !== end) {
      throw malformed('a column has extra bytes');
    }
  };
  const matrix = new Uint8Array(entries);
  const row = new Uint32Array(entries);
  const wire = new Uint32Array(entries);
  const value = new Uint32Array(entries);
  let lastPlace = 0;
  takeColumn((entry, coded) => {
    lastPlace += (coded >>> 1) ^ -(coded & 1);
    if (lastPlace < 0 || lastPlace >= 2 * domainSize) {
      throw malformed(`entry ${entry} lies outside the matrices`);
    }
    matrix[entry] = lastPlace & 1;
    row[entry] = lastPlace >>> 1;
  });
  let lastWire = 0;
  takeColumn((entry, coded) => {
    lastWire += (coded >>> 1) ^ -(coded & 1);
    if (lastWire < 0 || lastWire >= wires) {
      throw malformed(`entry ${entry} lies outside the matrices`);
    }
    wire[entry] = lastWire;
  });
  takeColumn((entry, coded) => {
    if (coded >= distinct) {
      throw malformed(`entry ${entry} has no value`);
    }
    value[entry] = coded;
  });
  if (position !== bytes.length) {
    throw malformed('it has extra bytes');
  }
  return { matrix, row, wire, value, values };
}

/**
 * Reads the section in pieces (standard) or as a whole (compact) and checks every entry against the limits.
 * @throws ZkeyFormatError
 */
export function readZkeyCoefficients(
  form: ZkeyForm,
  source: ByteSource,
  place: ZkeySectionPlace,
  limits: CoefficientLimits,
): Promise<ZkeyCoefficients> {
  return form === 'standard'
    ? readStandard(source, place, limits)
    : readCompact(source, place, limits);
}

/**
 * Number of entries. The entries themselves are not read.
 * @throws ZkeyFormatError if the section is too short for this number
 */
export async function countZkeyCoefficients(
  form: ZkeyForm,
  source: ByteSource,
  place: ZkeySectionPlace,
): Promise<number> {
  const entries = place.length < 4 ? 0 : await readUint32(source, place.start);
  const fits =
    form === 'standard'
      ? place.length === 4 + entries * recordBytes
      : place.length >= 20 + 3 * entries;
  if (!fits) {
    throw malformed(`${entries} entries do not fill the ${place.length} bytes of the section`);
  }
  return entries;
}
