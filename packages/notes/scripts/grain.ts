/**
 * Poseidon's parameters over BN254 (eprint 2019/458): constants and matrix of the Grain LFSR (appendix E), and the transformation of
 * partial rounds into sparse matrices (appendix B). Only generate-poseidon.ts uses this file; it is not published.
 *
 * @module
 */
import { grainGenConstants } from '@noble/curves/abstract/poseidon.js';
import { bn254 } from '@noble/curves/bn254.js';

const field = bn254.fields.Fr;
const fullRounds = 8;

/** Partial rounds for the widths 0, 1, 2 …, as in the circom ecosystem. */
const partialRounds = [0, 0, 56, 57, 56, 60, 60, 63];

type Matrix = bigint[][];

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

/** The permutation in a form in which a partial round costs 2t - 1 products instead of t². */
export type OptimizedParameters = {
  readonly width: number;
  readonly partialRounds: number;
  /** Added before the S-boxes of full round i (0 … 7), t each. */
  readonly fullConstants: readonly bigint[][];
  /** Added to word 0 before its S-box, one per partial round. */
  readonly partialConstants: readonly bigint[];
  readonly matrix: Matrix;
  /** Applied after full round 3, in place of `matrix`. */
  readonly transition: Matrix;
  /** First row of partial round i's sparse matrix, without its corner (always matrix[0][0]). */
  readonly sparseRows: readonly bigint[][];
  /** First column, without the corner. The rest of the matrix is the identity. */
  readonly sparseColumns: readonly bigint[][];
};

/**
 * M = Sparse · Q with Q = diag(1, M̂). Q commutes with a partial round's S-box, because it does not change word 0. Going
 * backwards, each Q moves into the matrix of the previous round. Likewise, the constants of words 1 … t-1 are not changed by the
 * S-box, so they move forward into the next round.
 */
export function computeOptimizedParameters(t: number): OptimizedParameters {
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
