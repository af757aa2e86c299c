/**
 * The witness programs of fund-16 and spend-2x4 beside circom's own, from the same compiler: the same wires at random inputs, and the
 * same errors. Compiles the circuits if the cache has no constraint file (seconds).
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { createBatch, R, sample, toInput } from '../../test/fund-batch.ts';
import {
  createSpend,
  maskingSigner,
  type Spend,
  subgroupOrder,
  toSpendInput,
  withPaths,
  withWallet,
} from '../../test/spend.ts';
import { computeWitness } from '../../test/witness.ts';
import { createArtifactStore } from '../artifacts/artifact-store.ts';
import { accelerateProgram } from './accelerate-program.ts';

const seed = randomUUID();
function random(name: string): bigint {
  return sample(`${seed} ${name}`);
}

async function loadPrograms(circuit: 'fund-16' | 'spend-2x4') {
  const constraints = await createArtifactStore().ensureConstraints(circuit);
  const compiled = await readFile(join(dirname(constraints), 'circuit.wasm'));
  return { compiled, accelerated: accelerateProgram(compiled) };
}

type Programs = Awaited<ReturnType<typeof loadPrograms>>;

async function expectSameWires({ compiled, accelerated }: Programs, input: unknown) {
  const witness = await computeWitness(accelerated, input);
  // Vitest compares long lists slowly.
  const expected = await computeWitness(compiled, input);
  expect(witness.length).toBe(expected.length);
  expect(witness.flatMap((value, wire) => (value === expected[wire] ? [] : [wire]))).toEqual([]);
}

async function expectSameError({ compiled, accelerated }: Programs, input: unknown) {
  const refusal = await computeWitness(accelerated, input).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ message: expect.stringContaining('Assert Failed') as string });
  await expect(computeWitness(compiled, input)).rejects.toEqual(refusal);
}

describe(`fund-16 (${seed})`, () => {
  let programs: Programs;
  beforeAll(async () => {
    programs = await loadPrograms('fund-16');
  }, 180_000);

  function createRandomBatch(paid: number) {
    const batch = createBatch(16, paid);
    const numbers = (name: string) => batch.amounts.map((_, i) => random(`${name} ${i}`));
    const amounts = numbers('amount').map((value, i) => (i < paid ? value % 2n ** 124n : 0n));
    return {
      ...batch,
      batchId: random('batch'),
      secret: random('secret'),
      amounts,
      total: amounts.reduce((sum, amount) => sum + amount, 0n),
      px: numbers('px'),
      py: numbers('py'),
    };
  }

  it.each([1, 16])("has the wires of circom's program for %i recipients", async (paid) => {
    await expectSameWires(programs, toInput(createRandomBatch(paid)));
  });

  it.each([
    ['an amount of 2^128', { amounts: [2n ** 128n, ...Array<bigint>(15).fill(0n)] }],
    ['an amount of r - 1', { amounts: [R - 1n, ...Array<bigint>(15).fill(0n)] }],
    ['a total of 2^128', { total: 2n ** 128n }],
    ['a leaf outside the tree', { leafIndices: [2n ** 20n, ...Array<bigint>(15).fill(0n)] }],
  ])('refuses %s as it does', async (_, change) => {
    await expectSameError(programs, { ...toInput(createRandomBatch(16)), ...change });
  });
});

describe(`spend-2x4 (${seed})`, () => {
  const shape = { inputs: 2, outputs: 4, levels: 32, windows: 31 };
  let programs: Programs;
  beforeAll(async () => {
    programs = await loadPrograms('spend-2x4');
  }, 180_000);

  const number = (name: string, count: number) => Number(random(name) % BigInt(count));
  const key = (random('key') % (secp256k1.Point.Fn.ORDER - 1n)) + 1n;

  function createRandomSpend(payees: number, change: Partial<Spend> = {}): Spend {
    const depths = [1, 2].map((j) => 1 + number(`depth ${j}`, 32));
    const spend = withWallet(createSpend({ ...shape, depths, payees }), key);
    const inputAmounts = [1, 2].map((j) => 10n ** 9n + (random(`input ${j}`) % 2n ** 120n));
    const spent = [...spend.amounts, spend.withdrawAmount].reduce((sum, one) => sum + one, 0n);
    const half = (name: string) => random(name) % 2n ** 128n;
    const bits = random('blinding');
    return withPaths(
      {
        ...spend,
        rLo: half('rLo'),
        rHi: half('rHi') % 2n ** 127n,
        viewingKey: (random('viewing key') % (subgroupOrder - 1n)) + 1n,
        salt: random('salt') % 2n ** 248n,
        secret: random('secret'),
        blindingBits: spend.blindingBits.map((_, i) => (bits >> BigInt(i)) & 1n),
        inputNonces: [1, 2].map((j) => random(`nonce ${j}`)),
        inputAmounts,
        changeAmount: inputAmounts.reduce((sum, one) => sum + one, -spent),
        ...change,
      },
      shape.levels,
      depths,
    );
  }

  it.each([0, 1, 3])("has the wires of circom's program for %i payees", async (payees) => {
    await expectSameWires(programs, toSpendInput(createRandomSpend(payees), {}, maskingSigner));
  });

  it.each([
    ['the smallest', 0n],
    ['the largest', 1n],
  ])('has its wires for %s blinding', async (_, bit) => {
    const spend = createRandomSpend(1, { blindingBits: Array<bigint>(248).fill(bit) });
    await expectSameWires(programs, toSpendInput(spend, {}, maskingSigner));
  });

  const spend = createRandomSpend(2);
  const input = toSpendInput(spend, {}, maskingSigner);
  const firstDigit = spend.blindingBits.slice(0, 8).reduceRight((sum, bit) => 2n * sum + bit, 1n);
  it.each<[string, Partial<Spend>]>([
    ['a half of 2^128', { wxLo: 2n ** 128n }],
    ['an x of p', { wxLo: 2n ** 128n - 2n ** 32n - 977n, wxHi: 2n ** 128n - 1n }],
    ['a y of r - 1', { wyLo: R - 1n }],
    ['another wallet', { wyLo: spend.wyLo ^ 1n }],
    ['a wallet that is the first multiple of the base point', withWallet(spend, firstDigit)],
    ['a bit of 2', { blindingBits: spend.blindingBits.with(9, 2n) }],
    ['a bit of r - 1', { blindingBits: spend.blindingBits.with(247, R - 1n) }],
    ['a half of the signature of 2^128', { rHi: 2n ** 128n }],
    ['an amount of 2^128', { amounts: spend.amounts.with(0, 2n ** 128n) }],
    ['a place that is too large', { leafIndices: spend.leafIndices.with(1, 2n ** 20n) }],
  ])('refuses %s as it does', async (_, change) => {
    await expectSameError(programs, { ...input, ...change });
  });
});
