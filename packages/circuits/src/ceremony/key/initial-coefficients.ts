/**
 * The coefficients' section of a key: the terms of A and B, row by row, then one term of A for each public row. Values times 2^512
 * mod r, as the snarkjs format has them. No contribution touches it.
 *
 * @module
 */
import { scalarFieldOrder } from '@pool/kernels';
import type { R1cs } from '../../constraints/r1cs.ts';
import { coefficientBytes, keySections } from '../files/key-file.ts';
import type { SectionContents } from '../files/section-writer.ts';
import { encodeInteger } from '../points/points.ts';

const entriesAtOnce = 1 << 14;
const montgomerySquared = (1n << 512n) % scalarFieldOrder;

function* encodeCoefficients(r1cs: R1cs, entries: number): Generator<Buffer> {
  const values = [...r1cs.coefficients, 1n].map((value) =>
    encodeInteger((value * montgomerySquared) % scalarFieldOrder),
  );
  const one = values.length - 1;
  const count = Buffer.alloc(4);
  count.writeUInt32LE(entries);
  yield count;
  let bytes = Buffer.alloc(entriesAtOnce * coefficientBytes);
  let position = 0;
  function* push(matrix: number, row: number, wire: number, value: number): Generator<Buffer> {
    bytes.writeUInt32LE(matrix, position);
    bytes.writeUInt32LE(row, position + 4);
    bytes.writeUInt32LE(wire, position + 8);
    values[value]?.copy(bytes, position + 12);
    position += coefficientBytes;
    if (position === bytes.length) {
      yield bytes;
      bytes = Buffer.alloc(bytes.length);
      position = 0;
    }
  }
  for (let row = 0; row < r1cs.constraints; row++) {
    for (const [number, matrix] of [r1cs.a, r1cs.b].entries()) {
      const end = matrix.rowStart[row + 1] ?? 0;
      for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
        yield* push(number, row, matrix.wire[term] ?? 0, matrix.coefficient[term] ?? 0);
      }
    }
  }
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
    yield* push(0, r1cs.constraints + wire, wire, one);
  }
  yield bytes.subarray(0, position);
}

/** The section, a slice of entries at a time. */
export function createCoefficientsSection(r1cs: R1cs): SectionContents {
  const entries = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.publicSignals + 1;
  return {
    id: keySections.coefficients,
    length: 4 + entries * coefficientBytes,
    chunks: encodeCoefficients(r1cs, entries),
  };
}
