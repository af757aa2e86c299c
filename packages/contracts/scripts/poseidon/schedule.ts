/**
 * Rewrites the width-3 Poseidon permutation into an equal one that costs fewer field multiplications.
 *
 * Two transformations are used. Neither changes the result:
 *
 * 1. **Scale.** Keep `y = x / t` instead of a state element `x`. The S-box turns the scale `t` into `t^5`,
 *    so every round can choose the scale of its outputs such that the first S-box result enters each row
 *    with coefficient 1: a full round needs six multiplications by constants instead of nine.
 * 2. **Basis.** In partial rounds only element 0 passes an S-box; the other two are a linear memory `h` with
 *    `h' = A h + b u` and `x0' = m u + c h`, where u is the S-box result. In controllable canonical form,
 *    chosen again in each round because the scale of u changes, the memory is a shift register: `g2' = g1` and
 *    `g1' = v + a1 g1 + a2 g2`. A partial round then needs four multiplications by constants instead of nine,
 *    and its round constants collapse into one addition.
 *
 * Tested by interpreting the schedule against poseidon-lite (`poseidon.test.ts`).
 */
import { Field } from '@noble/curves/abstract/modular.js';
import { grainGenConstants } from '@noble/curves/abstract/poseidon.js';
import { fieldModulus } from '@pool/core';

// Poseidon over BN254 with three state elements, circomlib's parameters (protocol §1): x^5, 8 full and 57 partial rounds, constants and
// matrix from the Grain LFSR of the Poseidon paper (appendix E).
const fullRounds = 8;
const partialRounds = 57;
const F = Field(fieldModulus);

/** `v0 + c1 * v1 + c2 * v2 + constant`: a row whose first coefficient is 1 by choice of scale. */
export interface Row {
  readonly c1: bigint;
  readonly c2: bigint;
  readonly constant: bigint;
}

/** One partial round: `z' = v + c1 g1 + c2 g2 + constant`, `g1' = v + a1 g1 + a2 g2`, `g2' = g1`. */
export interface PartialRound extends Row {
  readonly a1: bigint;
  readonly a2: bigint;
}

export interface Schedule {
  /** Added to the two inputs before the first S-boxes. The capacity element is 0 and needs no S-box. */
  readonly inputConstants: readonly [bigint, bigint];
  /** Round 0: rows over the two S-box results only, `v1 + c2 * v2 + constant`. */
  readonly first: readonly Row[];
  /** Rounds 1 and 2. */
  readonly opening: readonly (readonly Row[])[];
  /** Round 3 into the partial rounds: z and g1 are rows; `g2 = v1 + c2 * v2`. */
  readonly enter: { readonly z: Row; readonly g1: Row; readonly g2: bigint };
  readonly partial: readonly PartialRound[];
  /** The last partial round back into a full state: rows over (v, g1, g2). */
  readonly leave: readonly Row[];
  /** The final full rounds except the last. */
  readonly closing: readonly (readonly Row[])[];
  /** The last round, of which only element 0 is needed: coefficients of the three S-box results. */
  readonly output: readonly bigint[];
}

type Vector = readonly [bigint, bigint];

function power5(x: bigint): bigint {
  return F.pow(x, 5n);
}
function at<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`no element ${String(index)}`);
  return value;
}
function dot(a: Vector, b: Vector): bigint {
  return F.add(F.mul(a[0], b[0]), F.mul(a[1], b[1]));
}

/** Row vector times 2x2 matrix, the matrix given by its rows. */
function rowTimes(row: Vector, matrix: readonly [Vector, Vector]): Vector {
  return [
    F.add(F.mul(row[0], matrix[0][0]), F.mul(row[1], matrix[1][0])),
    F.add(F.mul(row[0], matrix[0][1]), F.mul(row[1], matrix[1][1])),
  ];
}

function invert([[a, b], [c, d]]: readonly [Vector, Vector]): readonly [Vector, Vector] {
  const k = F.inv(F.sub(F.mul(a, d), F.mul(b, c)));
  return [
    [F.mul(d, k), F.neg(F.mul(b, k))],
    [F.neg(F.mul(c, k)), F.mul(a, k)],
  ];
}

function scale(row: Vector, k: bigint): Vector {
  return [F.mul(row[0], k), F.mul(row[1], k)];
}

/** Derives the cheap schedule from the textbook parameters. */
export function computeSchedule(): Schedule {
  const { roundConstants, mds: matrix } = grainGenConstants({
    Fp: F,
    t: 3,
    roundsFull: fullRounds,
    roundsPartial: partialRounds,
  });
  const constant = (round: number, element: number): bigint =>
    at(at(roundConstants, round), element);
  const m = (row: number, column: number): bigint => at(at(matrix, row), column);
  const half = fullRounds / 2;
  const rounds = fullRounds + partialRounds;

  // Round 0. Element 0 is the capacity, always zero, so its S-box result is a constant of every row.
  const capacity = power5(constant(0, 0));
  let t: bigint[] = [0, 1, 2].map((row) => m(row, 1));
  const first = [0, 1, 2].map((row) => ({
    c1: 1n,
    c2: F.div(m(row, 2), at(t, row)),
    constant: F.div(F.add(F.mul(m(row, 0), capacity), constant(1, row)), at(t, row)),
  }));

  /** Rows of a full round, the three outputs rescaled so that v0 enters with coefficient 1. */
  const fullRound = (round: number): Row[] => {
    const [s0 = 0n, s1 = 0n, s2 = 0n] = t.map(power5);
    const next = [0, 1, 2].map((row) => F.mul(m(row, 0), s0));
    const rows = [0, 1, 2].map((row) => ({
      c1: F.div(F.mul(m(row, 1), s1), at(next, row)),
      c2: F.div(F.mul(m(row, 2), s2), at(next, row)),
      constant: F.div(constant(round + 1, row), at(next, row)),
    }));
    t = next;
    return rows;
  };
  const opening: Row[][] = [];
  for (let round = 1; round < half - 1; round += 1) opening.push(fullRound(round));

  // The linear memory of the partial rounds.
  const A: readonly [Vector, Vector] = [
    [m(1, 1), m(1, 2)],
    [m(2, 1), m(2, 2)],
  ];
  const b: Vector = [m(1, 0), m(2, 0)];
  const c: Vector = [m(0, 1), m(0, 2)];
  const inverseA = invert(A);
  const inverseAb: Vector = [dot(inverseA[0], b), dot(inverseA[1], b)];
  // Every first basis row is orthogonal to A^-1 b: otherwise u would reach g2 in the following round.
  const orthogonal: Vector = [inverseAb[1], F.neg(inverseAb[0])];

  // Round 3 enters the basis: z rescaled, g1 = T1 (h - d), g2 = T2 (h - d), d the constant part of h.
  const s = t.map(power5);
  const q = (column: number): Vector => scale([m(1, column), m(2, column)], at(s, column));
  let z = F.mul(m(0, 0), at(s, 0));
  const enterZ: Row = {
    c1: F.div(F.mul(m(0, 1), at(s, 1)), z),
    c2: F.div(F.mul(m(0, 2), at(s, 2)), z),
    constant: F.div(constant(half, 0), z),
  };
  let T1 = scale(orthogonal, F.inv(dot(orthogonal, q(0))));
  // T2 is free here: chosen orthogonal to the first S-box result and 1 on the second.
  const orthogonalToFirst: Vector = [q(0)[1], F.neg(q(0)[0])];
  let T2 = scale(orthogonalToFirst, F.inv(dot(orthogonalToFirst, q(1))));
  const enter = {
    z: enterZ,
    g1: { c1: dot(T1, q(1)), c2: dot(T1, q(2)), constant: 0n },
    g2: dot(T2, q(2)),
  };
  let d: Vector = [constant(half, 1), constant(half, 2)];

  const partial: PartialRound[] = [];
  let leave: Row[] = [];
  for (let round = half; round < half + partialRounds; round += 1) {
    const u = power5(z);
    const fromBasis = invert([T1, T2]);
    const cBasis = rowTimes(c, fromBasis);
    const nextZ = F.mul(m(0, 0), u);
    const zRow: Row = {
      c1: F.div(cBasis[0], nextZ),
      c2: F.div(cBasis[1], nextZ),
      constant: F.div(F.add(dot(c, d), constant(round + 1, 0)), nextZ),
    };
    const nextD: Vector = [
      F.add(dot(A[0], d), constant(round + 1, 1)),
      F.add(dot(A[1], d), constant(round + 1, 2)),
    ];
    if (round === half + partialRounds - 1) {
      t = [nextZ, F.mul(b[0], u), F.mul(b[1], u)];
      leave = [zRow];
      for (const row of [0, 1] as const) {
        const k = F.inv(F.mul(b[row], u));
        const basis = scale(rowTimes(A[row], fromBasis), k);
        leave.push({ c1: basis[0], c2: basis[1], constant: F.mul(nextD[row], k) });
      }
      break;
    }
    // g1' must contain v with coefficient 1; g2' must be g1.
    const nextT1 = scale(orthogonal, F.inv(F.mul(dot(orthogonal, b), u)));
    const nextT2 = rowTimes(T1, inverseA);
    const a = rowTimes(rowTimes(nextT1, A), fromBasis);
    partial.push({ ...zRow, a1: a[0], a2: a[1] });
    [T1, T2, z, d] = [nextT1, nextT2, nextZ, nextD];
  }

  const closing: Row[][] = [];
  for (let round = half + partialRounds; round < rounds - 1; round += 1) {
    closing.push(fullRound(round));
  }
  const output = [0, 1, 2].map((column) => F.mul(m(0, column), power5(at(t, column))));
  return {
    inputConstants: [constant(0, 1), constant(0, 2)],
    first,
    opening,
    enter,
    partial,
    leave,
    closing,
    output,
  };
}

/** Runs the schedule as the Solidity code does. For tests: it checks the algebra without a compiler. */
export function interpretSchedule(schedule: Schedule, left: bigint, right: bigint): bigint {
  const row = ({ c1, c2, constant }: Row, v: readonly bigint[]): bigint =>
    F.create(at(v, 0) + c1 * at(v, 1) + c2 * at(v, 2) + constant);
  const v1 = power5(F.add(left, schedule.inputConstants[0]));
  const v2 = power5(F.add(right, schedule.inputConstants[1]));
  let state = schedule.first.map((r) => F.create(v1 + r.c2 * v2 + r.constant));
  for (const rows of schedule.opening) {
    const v = state.map(power5);
    state = rows.map((r) => row(r, v));
  }
  const v = state.map(power5);
  let z = row(schedule.enter.z, v);
  let g1 = row(schedule.enter.g1, v);
  let g2 = F.create(at(v, 1) + schedule.enter.g2 * at(v, 2));
  for (const round of schedule.partial) {
    const u = power5(z);
    z = row(round, [u, g1, g2]);
    [g1, g2] = [F.create(u + round.a1 * g1 + round.a2 * g2), g1];
  }
  state = schedule.leave.map((r) => row(r, [power5(z), g1, g2]));
  for (const rows of schedule.closing) {
    const w = state.map(power5);
    state = rows.map((r) => row(r, w));
  }
  const w = state.map(power5);
  return schedule.output.reduce((sum, k, i) => F.add(sum, F.mul(k, at(w, i))), 0n);
}
