/**
 * Poseidon round constants and mixing matrices over the BN254 scalar field, from the Grain LFSR of the
 * Poseidon paper (https://eprint.iacr.org/2019/458, appendix E; initialisation as in the authors' reference script).
 * The parameters are the ones the circom ecosystem uses: S-box x^5, 8 full rounds, t = inputs + 1.
 * Tested against poseidon-lite through the compiled circuits (src/poseidon.test.ts).
 */
import { scalarFieldOrder } from '@pool/kernels';

const fieldBits = 254;

/** Partial rounds by state width t (paper, table 2; rounded up by the security margin). */
export const partialRoundCounts: ReadonlyMap<number, number> = new Map([
  [2, 56],
  [3, 57],
  [4, 56],
  [5, 60],
  [6, 60],
  [7, 63],
]);

export const fullRounds = 8;

export type PoseidonParameters = {
  readonly t: number;
  readonly partialRounds: number;
  /** Round constants, t per round, round after round. */
  readonly constants: readonly bigint[];
  /** matrix[row][column]: new state[row] = sum of matrix[row][column] * state[column]. */
  readonly matrix: readonly (readonly bigint[])[];
};

/** The 80-bit register of Grain, with the paper's filter: a pair whose first bit is 0 is discarded. */
function createGrain(t: number, partialRounds: number): () => bigint {
  const register: number[] = [];
  const load = (value: number, width: number) => {
    for (let i = width - 1; i >= 0; i--) {
      register.push((value >> i) & 1);
    }
  };
  load(1, 2); // prime field
  load(0, 4); // S-box x^alpha
  load(fieldBits, 12);
  load(t, 12);
  load(fullRounds, 10);
  load(partialRounds, 10);
  for (let i = 0; i < 30; i++) {
    register.push(1);
  }
  const at = (index: number): number => register[index] ?? 0;
  const step = (): number => {
    const bit = at(62) ^ at(51) ^ at(38) ^ at(23) ^ at(13) ^ at(0);
    register.shift();
    register.push(bit);
    return bit;
  };
  for (let i = 0; i < 160; i++) {
    step();
  }
  const filtered = (): number => {
    for (;;) {
      const keep = step();
      const bit = step();
      if (keep === 1) {
        return bit;
      }
    }
  };
  return () => {
    let value = 0n;
    for (let i = 0; i < fieldBits; i++) {
      value = (value << 1n) | BigInt(filtered());
    }
    return value;
  };
}

function invert(value: bigint): bigint {
  let result = 1n;
  let base = value;
  for (let exponent = scalarFieldOrder - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) {
      result = (result * base) % scalarFieldOrder;
    }
    base = (base * base) % scalarFieldOrder;
  }
  return result;
}

/** Parameters for state width t, t in 2..7. */
export function computePoseidonParameters(t: number): PoseidonParameters {
  const partialRounds = partialRoundCounts.get(t);
  if (partialRounds === undefined) {
    throw new RangeError(`no Poseidon parameters for t = ${t}`);
  }
  const draw = createGrain(t, partialRounds);
  const constants: bigint[] = [];
  while (constants.length < (fullRounds + partialRounds) * t) {
    const candidate = draw();
    if (candidate < scalarFieldOrder) {
      constants.push(candidate);
    }
  }
  // A Cauchy matrix 1 / (x_i + y_j); unlike the round constants these values are reduced modulo r, not rejected.
  for (;;) {
    const points = Array.from({ length: 2 * t }, () => draw() % scalarFieldOrder);
    const xs = points.slice(0, t);
    const ys = points.slice(t);
    const sums = xs.map((x) => ys.map((y) => (x + y) % scalarFieldOrder));
    const usable =
      new Set(points).size === 2 * t && sums.every((row) => row.every((s) => s !== 0n));
    if (usable) {
      return { t, partialRounds, constants, matrix: sums.map((row) => row.map(invert)) };
    }
  }
}
