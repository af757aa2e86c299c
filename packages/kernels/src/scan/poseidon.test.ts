// Compares the kernel with the rounds as the paper defines them, on BigInt, with constants invented for the test. @pool/notes
// tests that circomlib's constants give circomlib's hashes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNumbers, decodeScalars, encodeScalars, R } from '../../test/quotient-oracle.ts';
import { openDirectKernels } from '../direct-kernels.ts';
import { compileKernels, scanSet } from '../runtime/wasm-module.ts';
import { createScanKernels, type OpenScanKernels } from '../scan-kernels.ts';
import type { PoseidonConstants } from './poseidon.ts';

const partialRoundCounts = 5;
function list<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

function createConstants(width: number): PoseidonConstants {
  const { scalar } = createNumbers(BigInt(width));
  const square = () => list(width, () => list(width, scalar));
  return {
    width,
    partialRounds: partialRoundCounts,
    fullConstants: list(8, () => list(width, scalar)),
    partialConstants: list(partialRoundCounts, scalar),
    matrix: square(),
    transition: square(),
    sparseRows: list(partialRoundCounts, () => list(width - 1, scalar)),
    sparseColumns: list(partialRoundCounts, () => list(width - 1, scalar)),
  };
}

function dot(a: readonly bigint[], b: readonly bigint[]): bigint {
  return a.reduce((sum, value, i) => (sum + value * (b[i] ?? 0n)) % R, 0n);
}

function hashByDefinition(constants: PoseidonConstants, inputs: readonly bigint[]): bigint {
  const full = (state: readonly bigint[], round: number, mixer: PoseidonConstants['matrix']) => {
    const raised = state.map(
      (word, i) => (word + (constants.fullConstants[round]?.[i] ?? 0n)) ** 5n % R,
    );
    return mixer.map((row) => dot(row, raised));
  };
  let state = [0n, ...inputs];
  for (let round = 0; round < 4; round += 1) {
    state = full(state, round, round === 3 ? constants.transition : constants.matrix);
  }
  for (let round = 0; round < partialRoundCounts; round += 1) {
    const [first = 0n, ...others] = state;
    const raised = (first + (constants.partialConstants[round] ?? 0n)) ** 5n % R;
    const row = [constants.matrix[0]?.[0] ?? 0n, ...(constants.sparseRows[round] ?? [])];
    const column = constants.sparseColumns[round] ?? [];
    state = [
      dot(row, [raised, ...others]),
      ...others.map((word, i) => (word + raised * (column[i] ?? 0n)) % R),
    ];
  }
  for (let round = 4; round < 8; round += 1) state = full(state, round, constants.matrix);
  return state[0] ?? 0n;
}

describe.each(['float', 'integer'] as const)('Poseidon, %s multiplier', (multiplier) => {
  let kernels: OpenScanKernels;
  let direct: ReturnType<typeof openDirectKernels>;
  beforeAll(async () => {
    direct = openDirectKernels(await compileKernels(scanSet, multiplier, false));
    kernels = await createScanKernels({ threads: 2, multiplier });
  });
  afterAll(() => kernels.close());

  const check = async (width: number, inputs: readonly (readonly bigint[])[]) => {
    const constants = createConstants(width);
    const hashes = await kernels.hashPoseidonMany(constants, encodeScalars(inputs.flat()));
    expect(decodeScalars(hashes)).toEqual(inputs.map((row) => hashByDefinition(constants, row)));
    const single = inputs.map((row) => direct.hashPoseidon(constants, row));
    expect(single).toEqual(decodeScalars(hashes));
  };

  it.each([2, 3, 4, 5, 6, 7])('hashes %i words as defined', async (width) => {
    const { scalar } = createNumbers(99n);
    const words = [() => 0n, () => 1n, () => R - 1n, (i: number) => 2n ** BigInt(i + 250), scalar];
    const structured = words.map((word) => list(width - 1, word).map((value) => value % R));
    const single = list(width - 1, (place) => list(width - 1, (i) => (i === place ? 1n : 0n)));
    await check(width, [...structured, ...single]);
  });

  it.each([1, 2, 3, 127, 128, 129, 255, 256, 257])('hashes %i inputs', async (count) => {
    const { scalar } = createNumbers(BigInt(count));
    await check(
      3,
      list(count, () => [scalar(), scalar()]),
    );
  });
});
