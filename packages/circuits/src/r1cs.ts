/**
 * Reader of circom's `.r1cs` files (binary format, version 1) over the BN254 scalar field.
 *
 * Terms are kept in flat arrays: fund-16 holds more than a million of them. Coefficients repeat in every copy of a
 * template, so each distinct value is stored once and terms refer to it by number.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { FIELD_ORDER } from './field.ts';

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

const MAGIC = 'r1cs';
const HEADER_SECTION = 1;
const CONSTRAINT_SECTION = 2;
const FIELD_BYTES = 32;

const malformed = (what: string): PoolError =>
  new PoolError('r1cs_malformed', `The constraint file cannot be read: ${what}. Compile it again.`);

const littleEndianToBigInt = (bytes: Buffer, offset: number): bigint =>
  bytes.readBigUInt64LE(offset) |
  (bytes.readBigUInt64LE(offset + 8) << 64n) |
  (bytes.readBigUInt64LE(offset + 16) << 128n) |
  (bytes.readBigUInt64LE(offset + 24) << 192n);

const findSections = (file: Buffer): Map<number, Buffer> => {
  if (file.length < 12 || file.toString('latin1', 0, 4) !== MAGIC || file.readUInt32LE(4) !== 1) {
    throw malformed('not an r1cs file of version 1');
  }
  const sections = new Map<number, Buffer>();
  let position = 12;
  for (let left = file.readUInt32LE(8); left > 0; left--) {
    if (position + 12 > file.length) {
      throw malformed('it is cut off');
    }
    const end = position + 12 + Number(file.readBigUInt64LE(position + 4));
    if (end > file.length) {
      throw malformed('it is cut off');
    }
    sections.set(file.readUInt32LE(position), file.subarray(position + 12, end));
    position = end;
  }
  return sections;
};

/** Grows by doubling; `finish` cuts it to length. */
const createUint32List = () => {
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
};

/**
 * Reads a constraint system.
 * @throws PoolError `r1cs_malformed` if the bytes are no r1cs file over the BN254 scalar field.
 */
export const parseR1cs = (bytes: Uint8Array): R1cs => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sections = findSections(file);
  const header = sections.get(HEADER_SECTION);
  const body = sections.get(CONSTRAINT_SECTION);
  if (header === undefined || body === undefined || header.length < 4 + FIELD_BYTES + 28) {
    throw malformed('a section is missing');
  }
  if (header.readUInt32LE(0) !== FIELD_BYTES || littleEndianToBigInt(header, 4) !== FIELD_ORDER) {
    throw malformed('it is not over the BN254 scalar field');
  }
  const counts = 4 + FIELD_BYTES;
  const wires = header.readUInt32LE(counts);
  const publicSignals = header.readUInt32LE(counts + 4) + header.readUInt32LE(counts + 8);
  const constraints = header.readUInt32LE(counts + 24);

  const coefficients: bigint[] = [];
  const known = new Map<string, number>();
  const lists = [0, 1, 2].map(() => ({
    rowStart: new Uint32Array(constraints + 1),
    wire: createUint32List(),
    coefficient: createUint32List(),
  }));
  let position = 0;
  for (let row = 0; row < constraints; row++) {
    for (const list of lists) {
      if (position + 4 > body.length) {
        throw malformed('the constraints are cut off');
      }
      const terms = body.readUInt32LE(position);
      position += 4;
      if (position + terms * (4 + FIELD_BYTES) > body.length) {
        throw malformed('the constraints are cut off');
      }
      for (let term = 0; term < terms; term++) {
        const wire = body.readUInt32LE(position);
        const key = body.toString('latin1', position + 4, position + 4 + FIELD_BYTES);
        let index = known.get(key);
        if (index === undefined) {
          const value = littleEndianToBigInt(body, position + 4);
          if (value >= FIELD_ORDER) {
            throw malformed('a coefficient is not a field element');
          }
          index = coefficients.push(value) - 1;
          known.set(key, index);
        }
        if (wire >= wires) {
          throw malformed('a term names a wire that does not exist');
        }
        list.wire.push(wire);
        list.coefficient.push(index);
        position += 4 + FIELD_BYTES;
      }
      list.rowStart[row + 1] = list.wire.length;
    }
  }
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
};

/** Size of the evaluation domain a Groth16 key of this system needs: the next power of two with room for its public rows. */
export const computeDomainSize = (r1cs: Pick<R1cs, 'constraints' | 'publicSignals'>): number => {
  let size = 2;
  while (size < r1cs.constraints + r1cs.publicSignals + 1) {
    size *= 2;
  }
  return size;
};

/** All row numbers of a system. */
function* allRows(r1cs: R1cs): Generator<number> {
  for (let row = 0; row < r1cs.constraints; row++) {
    yield row;
  }
}

/**
 * Evaluates constraints on a full witness and returns the rows that do not hold (none: the witness satisfies the system). This looks
 * at the constraints alone, so it also shows what a witness generator of somebody else's could get accepted.
 * @param rows the rows to look at; default: all
 * @throws PoolError `witness_malformed`
 */
export const findBrokenConstraints = (
  r1cs: R1cs,
  witness: readonly bigint[],
  rows: Iterable<number> = allRows(r1cs),
): number[] => {
  if (witness.length !== r1cs.wires || witness[0] !== 1n) {
    throw new PoolError(
      'witness_malformed',
      'A witness needs one value for each wire, the first of them 1.',
    );
  }
  const evaluate = (matrix: R1csMatrix, row: number): bigint => {
    let sum = 0n;
    const end = matrix.rowStart[row + 1] ?? 0;
    for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
      const coefficient = r1cs.coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
      sum += coefficient * (witness[matrix.wire[term] ?? 0] ?? 0n);
    }
    return sum % FIELD_ORDER;
  };
  const broken: number[] = [];
  for (const row of rows) {
    const product = evaluate(r1cs.a, row) * evaluate(r1cs.b, row);
    if ((product - evaluate(r1cs.c, row)) % FIELD_ORDER !== 0n) {
      broken.push(row);
    }
  }
  return broken;
};
