/**
 * Poseidon's parameters over BN254 (eprint 2019/458): constants and matrix of the Grain LFSR (appendix E), and the transformation of
 * partial rounds into sparse matrices (appendix B). They are computed when a width is first used: written out they would be most of
 * the package. The digest in the test keeps them as they are.
 *
 * @module
 */
import { Field } from '@noble/curves/abstract/modular.js';
import { grainGenConstants } from '@noble/curves/abstract/poseidon.js';
import { fieldModulus, PoolError } from '@pool/core';
import type { PoseidonConstants } from '@pool/kernels';

const field = Field(fieldModulus);
const fullRounds = 8;

/** Partial rounds for the widths 0, 1, 2 …, as in the circom ecosystem. */
const partialRounds = [0, 0, 56, 57, 56, 60, 60, 63];

type Matrix = bigint[][];

const computed = new Map<number, PoseidonConstants>();

/**
 * The parameters for hashes of `inputs` numbers, the same object each time. The first time takes about 40 ms.
 * @param inputs - 1 to 6
 * @throws PoolError `invalid_value` for another number
 */
export function poseidonParameters(inputs: number): PoseidonConstants {
  const width = inputs + 1;
  if (width < 2 || width >= partialRounds.length) {
    throw new PoolError('invalid_value', 'Poseidon takes one to six field elements');
  }
  const parameters = computed.get(width) ?? computeOptimizedParameters(width);
  computed.set(width, parameters);
  return parameters;
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) {
    throw new RangeError(`no element ${index}`);
  }
  return value;
}

/** Round constants (t per round) and the mixing matrix of width t. */
function computeParameters(t: number): { constants: bigint[]; matrix: Matrix } {
  const { roundConstants, mds } = grainGenConstants({
    Fp: field,
    t,
    roundsFull: fullRounds,
    roundsPartial: at(partialRounds, t),
  });
  return { constants: roundConstants.flat(), matrix: mds };
}

function multiply(a: Matrix, b: Matrix): Matrix {
  return a.map((row) =>
    at(b, 0).map((_, column) =>
      field.create(row.reduce((sum, value, k) => sum + value * at(at(b, k), column), 0n)),
    ),
  );
}

function apply(matrix: Matrix, vector: readonly bigint[]): bigint[] {
  return matrix.map((row) =>
    field.create(row.reduce((sum, value, k) => sum + value * at(vector, k), 0n)),
  );
}

/** Gauss–Jordan. */
function invertMatrix(matrix: Matrix): Matrix {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  for (let column = 0; column < size; column += 1) {
    const pivot = rows.findIndex((row, i) => i >= column && at(row, column) !== 0n);
    [rows[column], rows[pivot]] = [at(rows, pivot), at(rows, column)];
    const scale = field.inv(at(at(rows, column), column));
    rows[column] = at(rows, column).map((value) => field.create(value * scale));
    const pivotRow = at(rows, column);
    for (let i = 0; i < size; i += 1) {
      const factor = at(at(rows, i), column);
      if (i !== column && factor !== 0n) {
        rows[i] = at(rows, i).map((value, j) => field.create(value - factor * at(pivotRow, j)));
      }
    }
  }
  return rows.map((row) => row.slice(size));
}

/**
 * M = Sparse · Q with Q = diag(1, M̂). Q commutes with a partial round's S-box, because it does not change word 0. Going
 * backwards, each Q moves into the matrix of the previous round. Likewise, the constants of words 1 … t-1 are not changed by the
 * S-box, so they move forward into the next round.
 */
function computeOptimizedParameters(t: number): PoseidonConstants {
  const { constants, matrix } = computeParameters(t);
  const rounds = constants.length / t;
  const partial = rounds - fullRounds;
  const half = fullRounds / 2;
  const roundConstants = Array.from({ length: rounds }, (_, i) =>
    constants.slice(i * t, (i + 1) * t),
  );

  const sparseRows: bigint[][] = [];
  const sparseColumns: bigint[][] = [];
  let current = matrix;
  for (let round = half + partial - 1; round >= half; round -= 1) {
    const minor = current.slice(1).map((row) => row.slice(1));
    const inverse = invertMatrix(minor);
    const row = multiply([at(current, 0).slice(1)], inverse);
    sparseRows.unshift(at(row, 0));
    sparseColumns.unshift(current.slice(1).map((line) => at(line, 0)));
    const q: Matrix = [[1n, ...minor.map(() => 0n)], ...minor.map((line) => [0n, ...line])];
    roundConstants[round] = apply(q, at(roundConstants, round));
    current = multiply(q, matrix);
  }

  const corner = at(at(matrix, 0), 0);
  const partialConstants: bigint[] = [];
  for (let i = 0; i < partial; i += 1) {
    const [first = 0n, ...rest] = at(roundConstants, half + i);
    partialConstants.push(first);
    const row = at(sparseRows, i);
    const moved = [
      field.create(rest.reduce((sum, value, k) => sum + value * at(row, k), 0n)),
      ...rest,
    ];
    const next = at(roundConstants, half + i + 1);
    roundConstants[half + i + 1] = next.map((value, k) => field.create(value + at(moved, k)));
  }
  if (sparseRows.length !== partial || corner === 0n) {
    throw new RangeError('unexpected shape');
  }
  return {
    width: t,
    partialRounds: partial,
    fullConstants: [...roundConstants.slice(0, half), ...roundConstants.slice(half + partial)],
    partialConstants,
    matrix,
    transition: current,
    sparseRows,
    sparseColumns,
  };
}
