/**
 * Reader of circom's `.r1cs` files (binary format, version 1) over the BN254 scalar field.
 *
 * Terms are stored in flat arrays: fund-16 has more than a million of them. Coefficients repeat in every copy of a template, so
 * each distinct value is stored once and terms refer to it by index.
 *
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { PoolError } from '@pool/core';
import {
  areBelowOrder,
  createDictionary,
  decodeInteger,
  encodeIntegers,
  scalarFieldOrder,
  type ZkeyCoefficients,
} from '@pool/kernels';

// The matrices of a proving key: the terms of A and B row by row, then one term of A for the constant and each public wire.

/** A `.zkey` stores a coefficient times 2^512 mod r. */
const montgomerySquared = (1n << 512n) % scalarFieldOrder;

/**
 * Lists the entries in the order in which snarkjs writes them; values are numbered by their first occurrence in that order, so
 * that the compact form of a key does not depend on how it was made.
 */
export function listKeyCoefficients(r1cs: R1cs): ZkeyCoefficients {
  const entries = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.publicSignals + 1;
  const matrix = new Uint8Array(entries);
  const row = new Uint32Array(entries);
  const wire = new Uint32Array(entries);
  const value = new Uint32Array(entries);
  const numbers = new Int32Array(r1cs.coefficients.length).fill(-1);
  const values: bigint[] = [];
  const numberOf = (coefficient: number): number => {
    const known = numbers[coefficient] ?? -1;
    if (known >= 0) {
      return known;
    }
    numbers[coefficient] = values.length;
    return values.push(r1cs.coefficients[coefficient] ?? 0n) - 1;
  };
  let entry = 0;
  for (let r = 0; r < r1cs.constraints; r++) {
    for (const [number, terms] of [r1cs.a, r1cs.b].entries()) {
      const end = terms.rowStart[r + 1] ?? 0;
      for (let term = terms.rowStart[r] ?? 0; term < end; term++, entry++) {
        matrix[entry] = number;
        row[entry] = r;
        wire[entry] = terms.wire[term] ?? 0;
        value[entry] = numberOf(terms.coefficient[term] ?? 0);
      }
    }
  }
  const one = r1cs.coefficients.indexOf(1n);
  const numberOfOne = one < 0 || (numbers[one] ?? -1) < 0 ? values.push(1n) - 1 : numberOf(one);
  for (let w = 0; w <= r1cs.publicSignals; w++, entry++) {
    row[entry] = r1cs.constraints + w;
    wire[entry] = w;
    value[entry] = numberOfOne;
  }
  return {
    matrix,
    row,
    wire,
    value,
    values: encodeIntegers(values.map((own) => (own * montgomerySquared) % scalarFieldOrder)),
  };
}

/** One of the matrices A, B, C, row after row. */
export type R1csMatrix = {
  /** Terms of row i: indices rowStart[i] up to rowStart[i + 1]. Length: constraints + 1. */
  readonly rowStart: Uint32Array;
  /** Wire of each term. */
  readonly wire: Uint32Array;
  /** Index into `coefficients` of each term. */
  readonly coefficient: Uint32Array;
};

/** A system of constraints (A·w)(B·w) = C·w. Wire 0 is the constant 1, wires 1..publicSignals are public. */
export type R1cs = {
  readonly wires: number;
  readonly publicSignals: number;
  readonly constraints: number;
  /** Distinct coefficients, each in 0..r-1. */
  readonly coefficients: readonly bigint[];
  readonly a: R1csMatrix;
  readonly b: R1csMatrix;
  readonly c: R1csMatrix;
};

const fileMagic = 'r1cs';
const headerSectionType = 1;
const constraintSectionType = 2;
const fieldBytes = 32;
/** A term: number of the wire, then the coefficient. */
const termWords = 9;
/** Words read from the file at a time (4 MB). */
const windowWords = 1 << 20;

function malformed(what: string): PoolError {
  return new PoolError(
    'artifact_malformed',
    `The constraint file cannot be read: ${what}. Compile it again.`,
  );
}

/** The bytes of the file. */
type Source = {
  readonly size: number;
  /** Fills `into` with the bytes from `position` on. The caller has checked that they exist. */
  readonly read: (position: number, into: Uint8Array) => void;
};

type Section = { readonly start: number; readonly length: number };

function take(source: Source, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  source.read(position, bytes);
  return bytes;
}

function findSections(source: Source): Map<number, Section> {
  const start = source.size < 12 ? Buffer.alloc(12) : take(source, 0, 12);
  if (start.toString('latin1', 0, 4) !== fileMagic || start.readUInt32LE(4) !== 1) {
    throw malformed('not an r1cs file of version 1');
  }
  const sections = new Map<number, Section>();
  let position = 12;
  for (let left = start.readUInt32LE(8); left > 0; left--) {
    if (position + 12 > source.size) {
      throw malformed('it is cut off');
    }
    const head = take(source, position, 12);
    const section = { start: position + 12, length: Number(head.readBigUInt64LE(4)) };
    position = section.start + section.length;
    if (position > source.size) {
      throw malformed('it is cut off');
    }
    sections.set(head.readUInt32LE(0), section);
  }
  return sections;
}

function readHeader(source: Source, section: Section) {
  if (section.length < 4 + fieldBytes + 28) {
    throw malformed('its header is cut off');
  }
  const header = take(source, section.start, 4 + fieldBytes + 28);
  if (
    header.readUInt32LE(0) !== fieldBytes ||
    decodeInteger(header.subarray(4), 0) !== scalarFieldOrder
  ) {
    throw malformed('it is not over the BN254 scalar field');
  }
  const counts = 4 + fieldBytes;
  return {
    wires: header.readUInt32LE(counts),
    publicSignals: header.readUInt32LE(counts + 4) + header.readUInt32LE(counts + 8),
    constraints: header.readUInt32LE(counts + 24),
  };
}

/** A window of words that moves over a section. `words` and `position` are at the last requested place. */
function createWindow(source: Source, section: Section) {
  const words = new Uint32Array(Math.min(windowWords, section.length >>> 2));
  const bytes = new Uint8Array(words.buffer);
  let end = 0;
  let fileOffset = 0;
  const window = {
    words,
    position: 0,
    /** Makes at least `count` words from `position` on available. */
    need(count: number): void {
      if (window.position + count <= end) {
        return;
      }
      words.copyWithin(0, window.position, end);
      const kept = end - window.position;
      const added = Math.min(words.length - kept, (section.length - fileOffset) >>> 2);
      source.read(section.start + fileOffset, bytes.subarray(4 * kept, 4 * (kept + added)));
      fileOffset += 4 * added;
      window.position = 0;
      end = kept + added;
      if (end < count) {
        throw malformed('the constraints are cut off');
      }
    },
  };
  return window;
}

/** Grows by doubling. `finish` cuts it to its length. */
function createUint32List() {
  let items = new Uint32Array(1 << 16);
  let length = 0;
  return {
    push(value: number): void {
      if (length === items.length) {
        const larger = new Uint32Array(items.length * 2);
        larger.set(items);
        items = larger;
      }
      items[length++] = value;
    },
    get length(): number {
      return length;
    },
    finish: (): Uint32Array => items.slice(0, length),
  };
}

function read(source: Source): R1cs {
  const sections = findSections(source);
  const headerSection = sections.get(headerSectionType);
  const body = sections.get(constraintSectionType);
  if (headerSection === undefined || body === undefined) {
    throw malformed('a section is missing');
  }
  const { wires, publicSignals, constraints } = readHeader(source, headerSection);
  // A row takes at least its three counts. This bounds the memory that a broken header can make us reserve.
  if (body.length % 4 !== 0 || body.length < 12 * constraints) {
    throw malformed('the constraints are cut off');
  }
  const dictionary = createDictionary();
  const lists = [0, 1, 2].map(() => ({
    rowStart: new Uint32Array(constraints + 1),
    wire: createUint32List(),
    coefficient: createUint32List(),
  }));
  const window = createWindow(source, body);
  const { words } = window;
  for (let row = 0; row < constraints; row++) {
    for (const list of lists) {
      window.need(1);
      const terms = words[window.position++] ?? 0;
      for (let term = 0; term < terms; term++) {
        window.need(termWords);
        const wire = words[window.position] ?? 0;
        if (wire >= wires) {
          throw malformed('a term names a wire that does not exist');
        }
        list.wire.push(wire);
        list.coefficient.push(dictionary.add(words, window.position + 1));
        window.position += termWords;
      }
      list.rowStart[row + 1] = list.wire.length;
    }
  }
  const values = dictionary.values();
  if (!areBelowOrder('scalar', values)) {
    throw malformed('a coefficient is not a field element');
  }
  const coefficients = Array.from({ length: values.length / fieldBytes }, (_, index) =>
    decodeInteger(values, index),
  );
  const [a, b, c] = lists.map(
    (list): R1csMatrix => ({
      rowStart: list.rowStart,
      wire: list.wire.finish(),
      coefficient: list.coefficient.finish(),
    }),
  );
  if (a === undefined || b === undefined || c === undefined) {
    throw malformed('a matrix is missing');
  }
  return { wires, publicSignals, constraints, coefficients, a, b, c };
}

/**
 * Reads a constraint system from a file, a few megabytes at a time: fund-256's file has 656 MB, its terms need 160 MB. It blocks
 * the thread, for seconds with such a file.
 * @throws PoolError `artifact_malformed`
 */
export function readR1cs(path: string): R1cs {
  const file = openSync(path, 'r');
  try {
    return read({
      size: fstatSync(file).size,
      read: (position, into) => {
        for (let done = 0; done < into.length; ) {
          const got = readSync(file, into, done, into.length - done, position + done);
          if (got === 0) {
            throw malformed('it is cut off');
          }
          done += got;
        }
      },
    });
  } finally {
    closeSync(file);
  }
}

/** Size of the evaluation domain that a Groth16 key of this system needs: the next power of two with room for its public rows. */
export function computeDomainSize(r1cs: Pick<R1cs, 'constraints' | 'publicSignals'>): number {
  let size = 2;
  while (size < r1cs.constraints + r1cs.publicSignals + 1) {
    size *= 2;
  }
  return size;
}
