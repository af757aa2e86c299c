/**
 * Poseidon's parameters over BN254, computed from the specification: the Grain LFSR in self-shrinking mode (eprint 2019/458,
 * appendix E), and the transformation of partial rounds into sparse matrices (appendix B). Only generate-poseidon.ts uses this
 * file; it is not published.
 *
 * @module
 */

/** r, the order of BN254's scalar field. */
const modulus = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

const fieldBits = 254;
const fullRounds = 8;

/** Partial rounds for the widths 0, 1, 2 …, as in the circom ecosystem. */
const partialRounds = [0, 0, 56, 57, 56, 60, 60, 63];

type Matrix = bigint[][];

function mod(value: bigint): bigint {
  return ((value % modulus) + modulus) % modulus;
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) {
    throw new RangeError(`no element ${index}`);
  }
  return value;
}

function invert(value: bigint): bigint {
  let [a, b, x, y] = [mod(value), modulus, 1n, 0n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  if (a !== 1n) {
    throw new RangeError('no inverse');
  }
  return mod(x);
}

/** The bits of the generator, seeded with the description of the parameters. */
function* grainBits(t: number): Generator<number, never> {
  const seed = [
    [1, 2], // a prime field
    [0, 4], // the S-box is x^alpha
    [fieldBits, 12],
    [t, 12],
    [fullRounds, 10],
    [at(partialRounds, t), 10],
    [2 ** 30 - 1, 30],
  ] as const;
  let state = 0n;
  for (const [value, width] of seed) {
    state = (state << BigInt(width)) | BigInt(value);
  }
  // The oldest of the 80 bits is the most significant bit.
  const bitAt = (index: number): bigint => (state >> BigInt(79 - index)) & 1n;
  const next = (): number => {
    const bit = bitAt(62) ^ bitAt(51) ^ bitAt(38) ^ bitAt(23) ^ bitAt(13) ^ bitAt(0);
    state = ((state << 1n) | bit) & ((1n << 80n) - 1n);
    return Number(bit);
  };
  for (let i = 0; i < 160; i += 1) {
    next();
  }
  while (true) {
    const keep = next();
    const bit = next();
    if (keep === 1) {
      yield bit;
    }
  }
}

/** Round constants (t per round) and the mixing matrix of width t. */
function computeParameters(t: number): { constants: bigint[]; matrix: Matrix } {
  const bits = grainBits(t);
  const draw = (): bigint => {
    let value = 0n;
    for (let i = 0; i < fieldBits; i += 1) {
      value = (value << 1n) | BigInt(bits.next().value);
    }
    return value;
  };
  const constants: bigint[] = [];
  const wanted = (fullRounds + at(partialRounds, t)) * t;
  while (constants.length < wanted) {
    const candidate = draw();
    if (candidate < modulus) {
      constants.push(candidate);
    }
  }
  // A Cauchy matrix over 2t distinct points. The reference implementation reduces these draws and does not reject any.
  const points = Array.from({ length: 2 * t }, () => draw() % modulus);
  if (new Set(points).size !== 2 * t) {
    throw new RangeError('the first points collide; the reference would draw again');
  }
  const matrix = points.slice(0, t).map((x) => points.slice(t).map((y) => invert(x + y)));
  return { constants, matrix };
}

function multiply(a: Matrix, b: Matrix): Matrix {
  return a.map((row) =>
    at(b, 0).map((_, column) =>
      mod(row.reduce((sum, value, k) => sum + value * at(at(b, k), column), 0n)),
    ),
  );
}

function apply(matrix: Matrix, vector: readonly bigint[]): bigint[] {
  return matrix.map((row) => mod(row.reduce((sum, value, k) => sum + value * at(vector, k), 0n)));
}

/** Gauss–Jordan. */
function invertMatrix(matrix: Matrix): Matrix {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  for (let column = 0; column < size; column += 1) {
    const pivot = rows.findIndex((row, i) => i >= column && at(row, column) !== 0n);
    [rows[column], rows[pivot]] = [at(rows, pivot), at(rows, column)];
    const scale = invert(at(at(rows, column), column));
    rows[column] = at(rows, column).map((value) => mod(value * scale));
    const pivotRow = at(rows, column);
    for (let i = 0; i < size; i += 1) {
      const factor = at(at(rows, i), column);
      if (i !== column && factor !== 0n) {
        rows[i] = at(rows, i).map((value, j) => mod(value - factor * at(pivotRow, j)));
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
    const moved = [mod(rest.reduce((sum, value, k) => sum + value * at(row, k), 0n)), ...rest];
    const next = at(roundConstants, half + i + 1);
    roundConstants[half + i + 1] = next.map((value, k) => mod(value + at(moved, k)));
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
