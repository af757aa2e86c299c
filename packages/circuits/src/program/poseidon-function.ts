/**
 * The template Poseidon(k) of circom/poseidon.circom as a function on the memory of its witness program: it reads the inputs and writes
 * every signal of the component, as the compiled template does.
 *
 * Partial rounds. M = [[a, b], [d, N]] with blocks of 1 and t - 1 words. With y the fifth power, w the other words and q the constants
 * added to them, a round computes the first word a y + b (w + q) and the others d y + N (w + q). In the coordinates w = Q_i (u + K_i),
 * Q_0 = 1, Q_{i+1} = N Q_i, K_0 = 0, K_{i+1} = K_i + (1 / Q_i) q, that is a y + (b Q_i) u + b (q + Q_i K_i) and u + (1 / Q_{i+1}) d y:
 * 2 t - 1 products in place of t^2. Only where the template names the state, w is computed from u.
 *
 * @module
 */
import { grainGenConstants } from '@noble/curves/abstract/poseidon.js';
import { bn254 } from '@noble/curves/bn254.js';
import {
  type Constants,
  elementBytes,
  type FieldFunction,
  type FieldIndices,
} from './field-functions.ts';
import { type Code, call, encodeBody, get, i32, load, op, set } from './wasm-code.ts';

const { Fr } = bn254.fields;

/** Partial rounds by state width t = inputs + 1, as in the circom ecosystem (eprint 2019/458, table 2, rounded up). */
export const partialRoundCounts: ReadonlyMap<number, number> = new Map([
  [2, 56],
  [3, 57],
  [4, 56],
  [5, 60],
  [6, 60],
  [7, 63],
]);

/** Poseidon over BN254's scalar field with S-box x^5 and 8 full rounds. src/poseidon.test.ts compares it with poseidon-lite. */
export function computePoseidonParameters(t: number) {
  return grainGenConstants({
    Fp: Fr,
    t,
    roundsFull: 8,
    roundsPartial: partialRoundCounts.get(t) ?? 0,
  });
}

/** poseidonStride of the template. */
function strideOf(t: number): number {
  return (
    new Map([
      [2, 14],
      [3, 19],
    ]).get(t) ?? 32
  );
}

type Vector = readonly bigint[];
type Matrix = readonly Vector[];

function dot(a: Vector, b: Vector): bigint {
  return a.reduce((sum, value, i) => Fr.add(sum, Fr.mul(value, b[i] ?? 0n)), 0n);
}
function multiply(m: Matrix, v: Vector): bigint[] {
  return m.map((row) => dot(row, v));
}
function addVectors(a: Vector, b: Vector): bigint[] {
  return a.map((value, i) => Fr.add(value, b[i] ?? 0n));
}
function transpose(m: Matrix): bigint[][] {
  return m.map((_, i) => m.map((row) => row[i] ?? 0n));
}
function multiplyMatrices(a: Matrix, b: Matrix): bigint[][] {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
}

/** By Gauss and Jordan. */
function invert(m: Matrix): bigint[][] {
  const n = m.length;
  const rows = m.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  for (let column = 0; column < n; column++) {
    const pivot = rows.findIndex((row, i) => i >= column && row[column] !== 0n);
    const found = rows.splice(pivot, 1)[0] ?? [];
    const inverse = Fr.inv(found[column] ?? 0n);
    const scaled = found.map((value) => Fr.mul(value, inverse));
    rows.splice(column, 0, scaled);
    for (const [i, row] of rows.entries()) {
      const factor = row[column] ?? 0n;
      if (i !== column && factor !== 0n) {
        rows[i] = row.map((value, j) => Fr.sub(value, Fr.mul(factor, scaled[j] ?? 0n)));
      }
    }
  }
  return rows.map((row) => row.slice(n));
}

const maximumWidth = 7;

/** (x, signal, bytes): x to its fifth power. Writes the square, the fourth and the fifth power as signals, `bytes` apart. */
export function writePower(constants: Constants, at: FieldIndices, scratch: number): FieldFunction {
  const [x, signal, bytes] = [0, 1, 2];
  const power = i32(scratch + 2 * maximumWidth * elementBytes);
  const zero = constants.place([0n]);
  const advance = set(signal, op('i32.add', get(signal), get(bytes)));
  const body = encodeBody({ i32: 0, i64: 0 }, [
    ...call(at.square, power, get(x)),
    ...call(at.store, get(signal), power),
    ...call(at.square, power, power),
    ...advance,
    ...call(at.store, get(signal), power),
    ...call(at.sum(1), get(x), get(x), power, i32(zero)),
    ...advance,
    ...call(at.store, get(signal), get(x)),
  ]);
  return { parameters: 3, results: 0, body };
}

/**
 * The body of the compiled template's function, which takes the component's address and returns 0.
 * @param k inputs
 * @param power index of the function of {@link writePower}
 * @param scratch address of {@link scratchElements} elements
 */
export function writePoseidonBody(
  k: number,
  constants: Constants,
  at: FieldIndices,
  power: number,
  scratch: number,
): Code {
  const t = k + 1;
  const partialRounds = partialRoundCounts.get(t) ?? 0;
  const { roundConstants, mds } = computePoseidonParameters(t);
  const constantsOf = (round: number): Vector => roundConstants[round] ?? [];
  const sboxes = 8 * t + partialRounds - 1;
  const lines: Code[] = [];

  // Addresses of the state and of a second one. The signals are out, inputs, square, fourth, fifth, held.
  let state = scratch;
  let other = scratch + maximumWidth * elementBytes;
  const wordOf = (base: number, i: number): Code => i32(base + elementBytes * i);
  const [component, signals] = [0, 1];
  const signal = (index: number): Code => op('i32.add', get(signals), i32(elementBytes * index));
  const run = (index: number, ...operands: readonly Code[]): void => {
    lines.push(call(index, ...operands));
  };
  const place = (...values: readonly bigint[]): Code => i32(constants.place(values));
  let used = 0;
  const raise = (word: Code): void => {
    run(power, word, signal(t + used), i32(elementBytes * sboxes));
    used++;
  };
  const mix = (added: Vector): void => {
    for (const [i, row] of mds.entries()) {
      run(at.sum(t), wordOf(other, i), i32(state), place(...row), place(added[i] ?? 0n));
    }
    [state, other] = [other, state];
  };
  const firstOf = (vector: Vector): bigint => vector[0] ?? 0n;

  // 1. The first full rounds. The capacity word of round 0 is a constant.
  lines.push(set(signals, load('i32.load', get(component), 4)));
  run(at.move, i32(state), place(Fr.pow(firstOf(constantsOf(0)), 5n)));
  for (let i = 1; i < t; i++) {
    run(at.load, wordOf(state, i), signal(i), place(constantsOf(0)[i] ?? 0n));
  }
  for (let round = 0; round < 4; round++) {
    for (let i = round === 0 ? 1 : 0; i < t; i++) {
      raise(wordOf(state, i));
    }
    mix(round < 3 ? constantsOf(round + 1) : [firstOf(constantsOf(4))]);
  }

  // 2. The partial rounds.
  const a = mds[0]?.[0] ?? 0n;
  const b = mds[0]?.slice(1) ?? [];
  const d = mds.slice(1).map(firstOf);
  const n = mds.slice(1).map((row) => row.slice(1));
  let coordinates: Matrix = n.map((row, i) => row.map((_, j) => (i === j ? 1n : 0n)));
  let shift: Vector = d.map(() => 0n);
  /** Writes w + added to the second state. */
  const leaveCoordinates = (added: Vector): void => {
    const constant = addVectors(multiply(coordinates, shift), added);
    for (const [i, row] of coordinates.entries()) {
      run(
        at.sum(k),
        wordOf(other, i + 1),
        wordOf(state, 1),
        place(...row),
        place(constant[i] ?? 0n),
      );
    }
  };
  const stride = strideOf(t);
  for (let round = 0; round < partialRounds; round++) {
    if (round > 0 && round % stride === 0) {
      leaveCoordinates(d.map(() => 0n));
      const held = t + 3 * sboxes + (round / stride - 1) * k;
      for (let i = 0; i < k; i++) {
        run(at.store, signal(held + i), wordOf(other, i + 1));
      }
    }
    raise(i32(state));
    const q = constantsOf(4 + round).slice(1);
    const row = [a, ...multiply(transpose(coordinates), b)];
    const shifted = dot(b, addVectors(q, multiply(coordinates, shift)));
    const added = Fr.add(shifted, firstOf(constantsOf(5 + round)));
    run(at.sum(t), i32(other), i32(state), place(...row), place(added));
    shift = addVectors(shift, multiply(invert(coordinates), q));
    coordinates = multiplyMatrices(n, coordinates);
    for (const [i, factor] of multiply(invert(coordinates), d).entries()) {
      const word = wordOf(state, i + 1);
      run(at.sum(1), word, i32(state), place(factor), word);
    }
    run(at.move, i32(state), i32(other));
  }

  // 3. The last full rounds. Only the first word of the last one is used.
  leaveCoordinates(constantsOf(4 + partialRounds).slice(1));
  run(at.move, i32(other), i32(state));
  [state, other] = [other, state];
  for (let round = 4 + partialRounds; round < 8 + partialRounds; round++) {
    for (let i = 0; i < t; i++) {
      raise(wordOf(state, i));
    }
    if (round < 7 + partialRounds) {
      mix(constantsOf(round + 1));
    }
  }
  run(at.sum(t), i32(other), i32(state), place(...(mds[0] ?? [])), place(0n));
  run(at.store, signal(0), i32(other));
  return encodeBody({ i32: 1, i64: 0 }, [...lines.flat(), ...i32(0)]);
}
