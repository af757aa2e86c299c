/** Compares with BigInt and noble-curves: the definitions, term by term. */
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNumbers,
  decodeScalars,
  encodeScalars,
  R,
  rootOfOrder,
} from '../../test/quotient-oracle.ts';
import { createKernels, type Kernels } from '../kernels.ts';
import type { SparseMatrix } from './setup-scalars.ts';

const { Fr } = bn254.fields;

/** The product over the other roots, (x - w^k) / (w^j - w^k). */
function lagrangeByDefinition(order: number, j: number, x: bigint): bigint {
  const root = rootOfOrder(order);
  const own = Fr.pow(root, BigInt(j));
  let value = 1n;
  for (let k = 0; k < order; k += 1) {
    if (k === j) continue;
    const other = Fr.pow(root, BigInt(k));
    value = Fr.mul(value, Fr.div(Fr.sub(x, other), Fr.sub(own, other)));
  }
  return value;
}

/** The same by the closed form, with one inversion each. */
function lagrangeInClosedForm(order: number, j: number, x: bigint): bigint {
  const root = Fr.pow(rootOfOrder(order), BigInt(j));
  const vanishing = Fr.sub(Fr.pow(x, BigInt(order)), 1n);
  return Fr.div(Fr.mul(root, vanishing), Fr.mul(BigInt(order), Fr.sub(x, root)));
}

type Term = readonly [row: number, column: number, value: bigint];

function toMatrix(rows: number, columns: number, terms: readonly Term[]): SparseMatrix {
  const sorted = terms.toSorted(([a], [b]) => a - b);
  const distinct = [...new Set(terms.map(([, , value]) => value))];
  const rowStart = Uint32Array.from(
    { length: rows + 1 },
    (_, row) => sorted.filter(([own]) => own < row).length,
  );
  return {
    rowStart,
    columns,
    column: Uint32Array.from(sorted, ([, column]) => column),
    value: Uint32Array.from(sorted, ([, , value]) => distinct.indexOf(value)),
    values: encodeScalars(distinct),
  };
}

function sumsByDefinition(
  columns: number,
  terms: readonly Term[],
  weights: readonly bigint[],
): bigint[] {
  const sums = Array.from({ length: columns }, () => 0n);
  for (const [row, column, value] of terms) {
    sums[column] = Fr.add(sums[column] ?? 0n, Fr.mul(value, weights[row] ?? 0n));
  }
  return sums;
}

describe.each(['float', 'integer'] as const)('the scalars of a key, %s', (multiplier) => {
  let kernels: Kernels;
  const { scalar, below } = createNumbers(20n);
  beforeAll(async () => {
    kernels = await createKernels({ threads: 2, multiplier });
  });
  afterAll(() => kernels.close());

  it.each([2, 4, 8, 32])('the Lagrange basis of %i equals the definition', async (size) => {
    for (const point of [0n, 2n, R - 2n, scalar()]) {
      const whole = decodeScalars(await kernels.computeLagrangeBasis({ size, point }));
      expect(whole).toEqual(whole.map((_, j) => lagrangeByDefinition(size, j, point)));
      const factor = scalar();
      const odd = decodeScalars(
        await kernels.computeLagrangeBasis({ size, point, factor, odd: true }),
      );
      expect(odd).toEqual(
        odd.map((_, j) => Fr.mul(factor, lagrangeByDefinition(2 * size, 2 * j + 1, point))),
      );
      expect([whole.length, odd.length]).toEqual([size, size]);
    }
  });

  it.each([1024, 2048, 8192])('the Lagrange basis of %i, over several tasks', async (size) => {
    const point = scalar();
    const done: number[] = [];
    const whole = decodeScalars(
      await kernels.computeLagrangeBasis(
        { size, point },
        { onProgress: (fraction) => done.push(fraction) },
      ),
    );
    const odd = decodeScalars(await kernels.computeLagrangeBasis({ size, point, odd: true }));
    for (const j of [0, 1, 511, 512, 1022, 1023, size - 1025, size - 1].filter(
      (place) => place >= 0,
    )) {
      expect(whole[j]).toBe(lagrangeInClosedForm(size, j, point));
      expect(odd[j]).toBe(lagrangeInClosedForm(2 * size, 2 * j + 1, point));
    }
    expect(whole.reduce((sum, value) => Fr.add(sum, value))).toBe(1n);
    expect(done.at(-1)).toBe(1);
  });

  it('refuses a point in the domain, and a size that is not a power of two', async () => {
    const point = rootOfOrder(16);
    await expect(
      (async () => kernels.computeLagrangeBasis({ size: 16, point }))(),
    ).rejects.toMatchObject({ code: 'input_refused' });
    await expect(
      (async () => kernels.computeLagrangeBasis({ size: 8, point, odd: true }))(),
    ).rejects.toMatchObject({ code: 'input_refused' });
    await expect(
      (async () => kernels.computeLagrangeBasis({ size: 12, point: 5n }))(),
    ).rejects.toMatchObject({ code: 'input_refused' });
  });

  it.each([
    [1, 1, 1],
    [3, 2, 5],
    [40, 2047, 400],
    [40, 2048, 400],
    [40, 2049, 4000],
    [300, 7, 9001],
  ])('column sums of %i rows, %i columns, %i terms', async (rows, columns, count) => {
    const palette = [0n, 1n, R - 1n, 2n, scalar(), scalar()];
    // Half of the terms are in column 0, like those of the constant wire.
    const terms = Array.from(
      { length: count },
      (): Term => [
        below(rows),
        below(2) === 0 ? 0 : below(columns),
        palette[below(palette.length)] ?? 0n,
      ],
    );
    for (const weights of [
      Array.from({ length: rows }, scalar),
      Array.from({ length: rows }, () => R - 1n),
      Array.from({ length: rows }, () => 0n),
    ]) {
      const sums = await kernels.multiplyColumns(
        toMatrix(rows, columns, terms),
        encodeScalars(weights),
      );
      expect(decodeScalars(sums)).toEqual(sumsByDefinition(columns, terms, weights));
    }
  });

  it('column sums of an empty matrix are zero', async () => {
    const sums = await kernels.multiplyColumns(toMatrix(2, 3, []), encodeScalars([5n, 7n]));
    expect(decodeScalars(sums)).toEqual([0n, 0n, 0n]);
  });

  it('refuses inconsistent matrices', async () => {
    const good = toMatrix(2, 2, [
      [0, 1, 5n],
      [1, 0, 6n],
    ]);
    const weights = encodeScalars([1n, 2n]);
    for (const bad of [
      { ...good, columns: 1 },
      { ...good, value: Uint32Array.of(0, 2) },
      { ...good, column: Uint32Array.of(0) },
      { ...good, rowStart: Uint32Array.of(0, 3, 2) },
      { ...good, values: new Uint8Array(33) },
    ]) {
      await expect((async () => kernels.multiplyColumns(bad, weights))()).rejects.toMatchObject({
        code: 'input_refused',
      });
    }
    await expect(
      (async () => kernels.multiplyColumns(good, weights.subarray(32)))(),
    ).rejects.toMatchObject({ code: 'input_refused' });
  });

  it.each([1, 2, 3, 2047, 2048, 2049])('sums of multiples of vectors of %i', async (length) => {
    const vectors = [
      Array.from({ length }, scalar),
      Array.from({ length }, () => R - 1n),
      Array.from({ length }, (_, i) => BigInt(i)),
    ];
    const factors = [scalar(), R - 1n, 0n];
    for (const count of [1, 2, 3]) {
      const terms = vectors
        .slice(0, count)
        .map((vector, i) => ({ factor: factors[i] ?? 0n, scalars: encodeScalars(vector) }));
      const expected = Array.from({ length }, (_, i) =>
        vectors
          .slice(0, count)
          .reduce(
            (sum, vector, which) => Fr.add(sum, Fr.mul(factors[which] ?? 0n, vector[i] ?? 0n)),
            0n,
          ),
      );
      expect(decodeScalars(await kernels.combineScalars(terms))).toEqual(expected);
    }
  });

  it('refuses to combine vectors of different lengths', async () => {
    const terms = [32, 64].map((bytes) => ({ factor: 1n, scalars: new Uint8Array(bytes) }));
    await expect((async () => kernels.combineScalars(terms))()).rejects.toMatchObject({
      code: 'input_refused',
    });
  });

  it('stops if aborted, and leaves no memory allocated', async () => {
    const before = kernels.bytesInUse;
    const abort = new AbortController();
    const basis = kernels.computeLagrangeBasis(
      { size: 2 ** 17, point: 5n },
      { signal: abort.signal },
    );
    abort.abort(new Error('enough'));
    await expect(basis).rejects.toThrow('enough');
    expect(kernels.bytesInUse).toBe(before);
  });
});
