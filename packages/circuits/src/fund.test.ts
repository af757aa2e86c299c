/**
 * The theorem of protocol §6 on a fund circuit of two slots: honest batches are accepted, and each group of constraints is needed.
 *
 * For each group the circuit is compiled once more without it. That mutant accepts a dishonest batch, which proves that nothing
 * else is wrong with it. Its witness, transferred to the real circuit, must violate exactly the rows of the group. So the test covers
 * the constraints, not the witness generator.
 */
import { type MemoryFile, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import {
  computeChallenge,
  computeCommitments,
  computeDigest,
  computeHorner,
  computeVector,
  createBatch,
  createEligibilityTree,
  type FundBatch,
  R,
  sample,
  toInput,
} from '../test/fund-batch.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
  type Mutation,
  transferWitness,
} from '../test/witness.ts';

const size = 2;
const main = `include "fund.circom";\ncomponent main {public [D, z, y]} = Fund(${size});`;

let circuit: CompiledTest;
beforeAll(async () => {
  // The witness generator reports refused inputs there as well as by throwing.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  circuit = await compileTest(main);
});
afterAll(endSnarkjsThreads);

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}

function withAmounts(amounts: bigint[], total: bigint): FundBatch {
  return {
    ...createBatch(size),
    amounts,
    total,
  };
}

const mutants = new Map<Mutation, Promise<CompiledTest>>();

/** The rows of the real circuit that a dishonest batch violates. Its witness comes from the mutant that accepts it. */
async function breakWith(mutation: Mutation, input: unknown): Promise<number[]> {
  const mutant = await (mutants.get(mutation) ?? compileTest(main, mutation));
  mutants.set(mutation, Promise.resolve(mutant));
  const witness = await computeWitness(mutant.wasm, input);
  expect(findBrokenConstraints(mutant.r1cs, witness)).toEqual([]);
  await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
  return findBrokenConstraints(circuit.r1cs, transferWitness(witness, mutant, circuit));
}

// Not used for the leaf indices, because their wires would disappear too.
const noRange: Mutation = {
  file: 'bits.circom',
  from: 'sum === value;',
  to: 'if (n != 128) { sum === value; }',
};
const noSum: Mutation = { file: 'fund.circom', from: 'sum === total;', to: '' };
const noMembership: Mutation = {
  file: 'funding-note.circom',
  from: '(path.root - eligibilityRoot) * amount === 0;',
  to: '',
};
const noWallet: Mutation = {
  file: 'funding-note.circom',
  from: 'amount * (1 - isNonZero) === 0;',
  to: '',
};
const noDigest: Mutation = { file: 'fund.circom', from: 'D === digest.out;', to: '' };
const noHorner: Mutation = { file: 'fund.circom', from: 'y === horner.y;', to: '' };
const otherNonce: Mutation = {
  file: 'fund.circom',
  from: 'base.out + i;',
  to: 'base.out + 2 * i;',
};

describe('honest batches', () => {
  it.each([
    ['two recipients', createBatch(size)],
    ['one recipient and a dummy', createBatch(size, 1)],
    ['only dummies', createBatch(size, 0)],
    ['the largest total', withAmounts([2n ** 128n - 2n, 1n], 2n ** 128n - 1n)],
  ])('%s: D, y and all constraints agree with poseidon-lite', async (_, batch) => {
    const input = toInput(batch);
    const witness = await computeWitness(circuit.wasm, input);
    expect(witness.slice(1, 4)).toEqual([input.D, input.z, input.y]);
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });
});

it('the witness is the one that snarkjs computes', async () => {
  const input = toInput(createBatch(size));
  const witness: MemoryFile = { type: 'mem' };
  await wtns.calculate(input, circuit.wasm, witness);
  expect(await computeWitness(circuit.wasm, input)).toEqual(await wtns.exportJson(witness));
});

describe('each group of constraints is needed', () => {
  it('an amount of 2^128', async () => {
    // A second amount brings the total back into range, as in a theft.
    const input = toInput(withAmounts([2n ** 128n, R - 2n ** 128n + 5n], 5n));
    expect(await breakWith(noRange, input)).toHaveLength(2);
  });

  it('a negative amount (r - 5) that makes room for a larger one', async () => {
    const input = toInput(withAmounts([R - 5n, 10n], 5n));
    expect(await breakWith(noRange, input)).toHaveLength(1);
  });

  it('a total of 2^128 from amounts in range', async () => {
    const input = toInput(withAmounts([2n ** 128n - 1n, 1n], 2n ** 128n));
    expect(await breakWith(noRange, input)).toHaveLength(1);
  });

  it.each([1n, -1n])('a total that is off by %s', async (error) => {
    const honest = createBatch(size);
    const input = toInput({ ...honest, total: honest.total + error });
    expect(await breakWith(noSum, input)).toHaveLength(1);
  });

  it('a wallet outside the tree, with an amount', async () => {
    const honest = createBatch(size);
    const input = toInput({ ...honest, walletIds: [sample('stranger'), at(honest.walletIds, 1)] });
    expect(await breakWith(noMembership, input)).toHaveLength(1);
  });

  it('another eligibility root, with amounts', async () => {
    const input = toInput({ ...createBatch(size), eligibilityRoot: sample('root') });
    expect(await breakWith(noMembership, input)).toHaveLength(size);
  });

  it('wallet 0 at an empty leaf, with an amount', async () => {
    const honest = createBatch(size);
    const place = Number(at(honest.leafIndices, 1));
    const tree = createEligibilityTree(new Map([[place, at(honest.walletIds, 1)]]));
    const input = toInput({
      ...honest,
      walletIds: [0n, at(honest.walletIds, 1)],
      leafIndices: [7n, BigInt(place)],
      siblings: [tree.siblings(7), tree.siblings(place)],
      eligibilityRoot: tree.root,
    });
    expect(await breakWith(noWallet, input)).toHaveLength(1);
  });

  it('a nonce that is not the one of its slot', async () => {
    const batch = createBatch(size);
    const input = toInput(
      batch,
      computeCommitments(batch, (slot) => 2 * slot),
    );
    expect(await breakWith(otherNonce, input)).toHaveLength(1);
  });

  it('a bit of an amount that is not 0 or 1', async () => {
    const witness = await computeWitness(circuit.wasm, toInput(withAmounts([2n, 3n], 5n)));
    const [low, high] = ['notes[0].range.bits[0]', 'notes[0].range.bits[1]'].map(circuit.wireOf);
    const tampered = witness.with(low ?? 0, 2n).with(high ?? 0, 0n);
    expect(findBrokenConstraints(circuit.r1cs, tampered)).toHaveLength(1);
  });

  it('an inverse of wallet 0', async () => {
    const honest = createBatch(size, 1);
    const input = toInput({ ...honest, walletIds: [at(honest.walletIds, 0), 0n] });
    const witness = await computeWitness(circuit.wasm, input);
    const tampered = witness.with(circuit.wireOf('notes[1].isNonZero'), 1n);
    expect(findBrokenConstraints(circuit.r1cs, tampered)).toHaveLength(1);
  });

  it('a digest of other values', async () => {
    const input = { ...toInput(createBatch(size)), D: sample('digest') };
    expect(await breakWith(noDigest, input)).toHaveLength(1);
  });

  it('a y of other values', async () => {
    const input = { ...toInput(createBatch(size)), y: sample('y') };
    expect(await breakWith(noHorner, input)).toHaveLength(1);
  });
});

describe('zero amounts need no membership', () => {
  it.each([
    ['a stranger', sample('stranger')],
    ['wallet 0', 0n],
  ])('%s with amount 0 and any path is accepted', async (_, walletId) => {
    const honest = createBatch(size, 1);
    const input = toInput({ ...honest, walletIds: [at(honest.walletIds, 0), walletId] });
    const witness = await computeWitness(circuit.wasm, input);
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });
});

describe('each element of x is bound by D and y (protocol §5)', () => {
  const honest = createBatch(size);
  const x = computeVector(honest);
  const names = ['assetId', 'total', 'batchId', 'eligibilityRoot', 'batchRoot', 'c_0', 'c_1'];

  it.each(names.map((name, i) => [name, i] as const))('%s', async (_, index) => {
    const flipped = x.map((value, i) => (i === index ? (value + 1n) % R : value));
    const D = computeDigest(flipped);
    const honestDigest = computeDigest(x);
    // The prover must have fixed D before z exists. With the honest D the verifier's y is one of the flipped vector.
    const underHonestDigest = computeChallenge(honestDigest, flipped);
    const input = { ...toInput(honest), D: honestDigest, ...underHonestDigest };
    await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
    expect(await breakWith(noHorner, input)).toHaveLength(1);
    if (index < 5) {
      // With the flipped D the digest is wrong, even if y were the honest one at this z.
      const { z } = computeChallenge(D, flipped);
      const other = { ...toInput(honest), D, z, y: computeHorner(x, z) };
      expect(await breakWith(noDigest, other)).toHaveLength(1);
    }
  });
});

describe('every wire has a constraint that fixes it', () => {
  it('a change of any single wire of an honest witness is refused', async () => {
    const witness = await computeWitness(circuit.wasm, toInput(createBatch(size, 1)));
    const { r1cs } = circuit;
    const rowsOf = Array.from({ length: r1cs.wires }, () => new Set<number>());
    // C first: it contains the row that defines a wire, and the search below ends at the first violated row.
    for (const { rowStart, wire } of [r1cs.c, r1cs.a, r1cs.b]) {
      for (let row = 0; row < r1cs.constraints; row++) {
        for (let term = rowStart[row] ?? 0; term < (rowStart[row + 1] ?? 0); term++) {
          rowsOf[wire[term] ?? 0]?.add(row);
        }
      }
    }
    const free: string[] = [];
    const tampered = [...witness];
    for (let wire = 1; wire < r1cs.wires; wire++) {
      const honest = at(witness, wire);
      tampered[wire] = (honest + 1n) % R;
      const isHeld = [...(rowsOf[wire] ?? [])].some(
        (row) => findBrokenConstraints(r1cs, tampered, [row]).length > 0,
      );
      tampered[wire] = honest;
      if (!isHeld) {
        free.push(circuit.namesOf.get(wire)?.join(' = ') ?? `wire ${wire}`);
      }
    }
    // In a dummy the path may be any path (its root is multiplied by amount 0), but its hashes must still be hashes.
    expect(free).toEqual([]);
  });
});
