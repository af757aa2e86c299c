import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNumbers,
  decodeScalars,
  type Entry,
  encodeScalars,
  quotientByDefinition,
  R,
  toCoefficients,
} from '../../test/quotient-oracle.ts';
import type { Kernels } from '../kernels.ts';
import { createKernels } from '../kernels.ts';
import type { ScalarVector } from './scalars.ts';

const matrices = [0, 1] as const;

function readScalars(kernels: Kernels, vector: ScalarVector): bigint[] {
  return decodeScalars(kernels.readScalars(vector));
}

async function compute(
  kernels: Kernels,
  entries: readonly Entry[],
  size: number,
  witness: readonly bigint[],
): Promise<bigint[]> {
  const input = { ...toCoefficients(entries), domainSize: size, wires: witness.length };
  const rows = await kernels.loadRows(input);
  const scalars = await kernels.loadScalars(witness.length, encodeScalars(witness));
  const quotient = await kernels.computeQuotient(rows, scalars);
  const result = readScalars(kernels, quotient);
  for (const resident of [rows, scalars, quotient]) resident.release();
  return result;
}

/** One entry for A and one for B in each row, so that the transforms process the witness itself. */
function diagonal(size: number): Entry[] {
  return matrices.flatMap((matrix) =>
    Array.from({ length: size }, (_, row) => ({ matrix, row, wire: row, value: 1n })),
  );
}

function sparse(size: number, wires: number, seed: bigint): Entry[] {
  const { below, scalar } = createNumbers(seed);
  return Array.from({ length: 5 * size }, () => ({
    matrix: below(2) === 0 ? 0 : 1,
    row: below(size),
    wire: below(wires),
    value: [1n, R - 1n, 2n, 0n, scalar()][below(5)] ?? 1n,
  }));
}

describe.each(['float', 'integer'] as const)(
  'the quotient with the %s multiplier',
  (multiplier) => {
    let kernels: Kernels;
    beforeAll(async () => {
      kernels = await createKernels({ threads: 2, multiplier });
    });
    afterAll(async () => {
      await kernels.close();
    });

    it.each([2, 4, 8, 16, 32, 64, 128])(
      'equals the textbook quotient for random matrices of %i rows',
      async (size) => {
        const { scalar } = createNumbers(BigInt(size));
        const witness = Array.from({ length: size + 3 }, scalar);
        const entries = sparse(size, witness.length, 77n);
        expect(await compute(kernels, entries, size, witness)).toEqual(
          quotientByDefinition(entries, size, witness),
        );
      },
    );

    it.each([
      ['zeros', () => 0n],
      ['ones', () => 1n],
      ['r-1 everywhere', () => R - 1n],
      ['powers of two', (i: number) => 2n ** BigInt(i % 254) % R],
      ['one that is not zero', (i: number) => (i === 5 ? R - 3n : 0n)],
      ['alternating extremes', (i: number) => (i % 2 === 0 ? 1n : R - 1n)],
    ])('equals the textbook quotient for %s', async (_name, at) => {
      const witness = Array.from({ length: 64 }, (_unused, i) => at(i));
      const entries = diagonal(64);
      expect(await compute(kernels, entries, 64, witness)).toEqual(
        quotientByDefinition(entries, 64, witness),
      );
    });

    it('equals the textbook quotient for empty matrices, empty rows and one long row', async () => {
      expect(await compute(kernels, [], 8, [1n])).toEqual(Array.from({ length: 8 }, () => 0n));
      const { scalar } = createNumbers(3n);
      const witness = Array.from({ length: 9 }, scalar);
      const entries = matrices.flatMap((matrix) =>
        Array.from({ length: 401 }, (_, i) => ({ matrix, row: 6, wire: i % 9, value: scalar() })),
      );
      expect(await compute(kernels, entries, 16, witness)).toEqual(
        quotientByDefinition(entries, 16, witness),
      );
    });

    it('leaves only the tables of its sizes in memory', async () => {
      const before = kernels.bytesInUse;
      await compute(
        kernels,
        diagonal(64),
        64,
        Array.from({ length: 64 }, () => 1n),
      );
      expect(kernels.bytesInUse).toBe(before);
    });
  },
);
