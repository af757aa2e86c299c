/**
 * Writes the matrices of a proving key in either of the encodings that zkey-coefficients.ts reads.
 *
 * @module
 */
import {
  chunkRecords,
  readZkeyCoefficients,
  recordBytes,
  valueBytes,
  type ZkeyCoefficients,
} from './zkey-coefficients.ts';
import {
  type ByteSource,
  decodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  readZkeyTable,
  type ZkeyForm,
  ZkeyFormatError,
  zkeyHeaderBytes,
  zkeySection,
} from './zkey-format.ts';

// Converts a proving key into the other form: compact to standard for tools of the snarkjs family, standard to compact for
// storage.

/** Bytes copied at a time. */
const chunkBytes = 1 << 20;

/**
 * The bytes of the same key in the requested form, in pieces. Sections keep their order, and a conversion back gives the same
 * file. Each piece is valid until the next one is requested.
 * @throws ZkeyFormatError
 */
export async function* convertZkey(source: ByteSource, form: ZkeyForm): AsyncGenerator<Uint8Array> {
  const table = await readZkeyTable(source);
  const header = table.sections.find(({ id }) => id === zkeySection.header);
  if (header === undefined || header.length !== zkeyHeaderBytes) {
    throw new ZkeyFormatError('The proving key has no header of a Groth16 key over BN254.');
  }
  const headerBytes = new Uint8Array(zkeyHeaderBytes);
  await source.read(header.start, headerBytes);
  const limits = decodeZkeyHeader(headerBytes);
  yield encodeZkeyStart(form, table.sections.length);
  const buffer = new Uint8Array(chunkBytes);
  for (const place of table.sections) {
    if (place.id === zkeySection.coefficients && table.form !== form) {
      const coefficients = await readZkeyCoefficients(table.form, source, place, limits);
      yield encodeZkeySectionHead(place.id, measureZkeyCoefficients(form, coefficients));
      yield* encodeZkeyCoefficients(form, coefficients);
      continue;
    }
    yield encodeZkeySectionHead(place.id, place.length);
    for (let done = 0; done < place.length; done += chunkBytes) {
      const piece = buffer.subarray(0, Math.min(chunkBytes, place.length - done));
      await source.read(place.start + done, piece);
      yield piece;
    }
  }
}

function* encodeStandard(coefficients: ZkeyCoefficients): Generator<Uint8Array> {
  const { matrix, row, wire, value, values } = coefficients;
  yield new Uint8Array(Uint32Array.of(matrix.length).buffer);
  for (let first = 0; first < matrix.length; first += chunkRecords) {
    const count = Math.min(chunkRecords, matrix.length - first);
    const bytes = new Uint8Array(count * recordBytes);
    const view = new DataView(bytes.buffer);
    for (let i = 0, at = 0; i < count; i++, at += recordBytes) {
      view.setUint32(at, matrix[first + i] ?? 0, true);
      view.setUint32(at + 4, row[first + i] ?? 0, true);
      view.setUint32(at + 8, wire[first + i] ?? 0, true);
      const start = (value[first + i] ?? 0) * valueBytes;
      bytes.set(values.subarray(start, start + valueBytes), at + 12);
    }
    yield bytes;
  }
}

/** LEB128 numbers in a growing buffer. */
function createColumn(expected: number) {
  let bytes = new Uint8Array(expected + 16);
  let length = 0;
  return {
    push: (number: number): void => {
      if (length + 5 > bytes.length) {
        const larger = new Uint8Array(bytes.length * 2);
        larger.set(bytes);
        bytes = larger;
      }
      let rest = number >>> 0;
      while (rest >= 0x80) {
        bytes[length++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      bytes[length++] = rest;
    },
    take: (): Uint8Array => bytes.subarray(0, length),
  };
}

function zigzag(step: number): number {
  return ((step << 1) ^ (step >> 31)) >>> 0;
}

function* encodeCompact(coefficients: ZkeyCoefficients): Generator<Uint8Array> {
  const { matrix, row, wire, value, values } = coefficients;
  const entries = matrix.length;
  yield new Uint8Array(Uint32Array.of(entries, values.length / valueBytes).buffer);
  yield values;
  const places = createColumn(entries);
  const wires = createColumn(2 * entries);
  const indices = createColumn(entries);
  let lastPlace = 0;
  let lastWire = 0;
  for (let entry = 0; entry < entries; entry++) {
    const place = 2 * (row[entry] ?? 0) + (matrix[entry] ?? 0);
    places.push(zigzag(place - lastPlace));
    lastPlace = place;
    const entryWire = wire[entry] ?? 0;
    wires.push(zigzag((entryWire - lastWire) | 0));
    lastWire = entryWire;
    indices.push(value[entry] ?? 0);
  }
  for (const column of [places, wires, indices]) {
    const bytes = column.take();
    yield new Uint8Array(Uint32Array.of(bytes.length).buffer);
    yield bytes;
  }
}

/** The bytes of section 4, in pieces. Numbers of rows and wires must be below 2^30. */
export function encodeZkeyCoefficients(
  form: ZkeyForm,
  coefficients: ZkeyCoefficients,
): Iterable<Uint8Array> {
  return form === 'standard' ? encodeStandard(coefficients) : encodeCompact(coefficients);
}

/** Length of section 4 in bytes. */
export function measureZkeyCoefficients(form: ZkeyForm, coefficients: ZkeyCoefficients): number {
  if (form === 'standard') {
    return 4 + coefficients.matrix.length * recordBytes;
  }
  let length = 0;
  for (const part of encodeCompact(coefficients)) {
    length += part.length;
  }
  return length;
}
