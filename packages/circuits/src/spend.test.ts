/**
 * The theorem of protocol §6 on a spend circuit of two inputs, two outputs and paths of four levels: honest spends are accepted, and
 * each group of constraints is needed. The method is that of fund.test.ts. A stub replaces the hidden signer.
 */
import { poseidon5 } from 'poseidon-lite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  computeChallenge,
  computeHorner,
  computeTag,
  createEligibilityTree,
  R,
  sample,
} from '../test/fund-batch.ts';
import {
  climb,
  computeInputNotes,
  computeNullifiers,
  computeSpendDigest,
  computeSpendVector,
  computeWalletId,
  createSpend,
  type Deviation,
  multiplyBase,
  type Spend,
  signerStub,
  subgroupOrder,
  toSpendInput,
  withPaths,
} from '../test/spend.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
  type Mutation,
  transferWitness,
} from '../test/witness.ts';
import { findBrokenConstraints } from './r1cs.ts';

const inputs = 2;
const outputs = 2;
const levels = 4;
const shape = { inputs, outputs, levels, windows: 1 };
const main = `include "spend.circom";
component main {public [D, z, y]} = Spend(${inputs}, ${outputs}, ${levels}, 1, TAG_OP_2x4());`;
const stub = { file: 'hidden-signer.circom', text: signerStub };

/** Two notes, and one payee. */
const transfer = createSpend({ ...shape, depths: [3, 4], payees: 1 });
/** One note and a dummy, and nobody is paid inside. */
const send = createSpend({ ...shape, depths: [2], payees: 0 });

let circuit: CompiledTest;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  circuit = await compileTest(main, stub);
});
afterAll(endSnarkjsThreads);

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}

const mutants = new Map<unknown, Promise<CompiledTest>>();

/** The mutant's witness of a dishonest spend that the real circuit refuses. */
async function acceptWith(
  mutation: Mutation | readonly Mutation[],
  spend: Spend,
  deviation: Deviation = {},
  publicSignals: Partial<Record<'D' | 'z' | 'y', bigint>> = {},
): Promise<{ mutant: CompiledTest; witness: bigint[] }> {
  const mutant = await (mutants.get(mutation) ?? compileTest(main, stub, ...[mutation].flat()));
  mutants.set(mutation, Promise.resolve(mutant));
  const input = { ...toSpendInput(spend, deviation), ...publicSignals };
  const witness = await computeWitness(mutant.wasm, input);
  expect(findBrokenConstraints(mutant.r1cs, witness)).toEqual([]);
  await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
  return { mutant, witness };
}

/** The rows of the real circuit that a dishonest spend breaks, when made with a mutant that accepts it. */
async function breakWith(...parts: Parameters<typeof acceptWith>): Promise<number[]> {
  const { mutant, witness } = await acceptWith(...parts);
  return findBrokenConstraints(circuit.r1cs, transferWitness(witness, mutant, circuit));
}

function withoutRow(file: string, from: string): Mutation {
  return { file, from, to: '' };
}

/**
 * One mutant without any of these groups: what it accepts, and the row that this breaks in the real circuit, show that exactly the
 * group of that row is needed.
 */
const loose: readonly Mutation[] = [
  { file: 'bits.circom', from: 'sum === value;', to: 'if (n != 128) { sum === value; }' },
  withoutRow('spend.circom', 'spent === created + withdrawAmount;'),
  withoutRow('spend.circom', 'inputEnabled[j] * (paths[j].root - noteRoot) === 0;'),
  withoutRow('spend.circom', '(1 - inputEnabled[j]) * inputAmounts[j] === 0;'),
  withoutRow('spend.circom', 'inputEnabled[j] * (inputEnabled[j] - 1) === 0;'),
  withoutRow('spend.circom', 'D === digest.out;'),
  withoutRow('spend.circom', 'y === horner.y;'),
  withoutRow('note-path.circom', 'ones === 1;'),
  withoutRow('comparison.circom', '(1 - differs[run]) * ones === 0;'),
  withoutRow('funding-note.circom', '(path.root - eligibilityRoot) * amount === 0;'),
  withoutRow('funding-note.circom', 'amount * (1 - isNonZero) === 0;'),
];
const noFirst = withoutRow('spend.circom', 'inputEnabled[0] === 1;');
const zeroKey: Mutation = {
  file: 'baby-jubjub.circom',
  from: 'scalar * inverse === 1;',
  to: 'inverse * inverse === inverse;',
};
// These change which signal is used, so that no row says it: the real circuit has another D for such a spend.
const otherTag: Mutation = {
  file: 'spend.circom',
  from: 'inputEnabled[j] * (TAG_NULLIFIER() - TAG_DUMMY()) + TAG_DUMMY();',
  to: 'inputEnabled[j] * (TAG_DUMMY() - TAG_NULLIFIER()) + TAG_NULLIFIER();',
};
const otherNonce: Mutation = {
  file: 'spend.circom',
  from: 'base.out + i;',
  to: 'base.out + 2 * i;',
};
const otherBase: Mutation = {
  file: 'spend.circom',
  from: 'base.inputs[1] <== nullifiers[0].out;',
  to: 'base.inputs[1] <== deadline;',
};
const otherChange: Mutation = {
  file: 'spend.circom',
  from: 'change.inputs[3] <== wallet.out;',
  to: 'change.inputs[3] <== walletIds[0];',
};
const otherMessage: Mutation = {
  file: 'spend.circom',
  from: 'signer.m <== message.out;',
  to: 'signer.m <== secret;',
};

describe('honest spends', () => {
  const largest = {
    ...transfer,
    inputAmounts: [2n ** 128n - 2n, 1n],
    amounts: [2n ** 127n],
    changeAmount: 2n ** 127n - 1n,
  };
  it.each<[string, Spend]>([
    ['two notes and a payee', transfer],
    ['one note, a dummy and a withdrawal', send],
    ['a tree of one pair', createSpend({ ...shape, depths: [1], payees: 1 })],
    ['paths of all levels', createSpend({ ...shape, depths: [levels, levels], payees: 1 })],
    ['no change', { ...send, changeAmount: 0n, withdrawAmount: at(send.inputAmounts, 0) }],
    ['the largest sum', withPaths(largest, levels, [2, 3])],
    ['the smallest viewing key', withPaths({ ...transfer, viewingKey: 1n }, levels, [3, 4])],
    [
      'the largest viewing key',
      withPaths({ ...transfer, viewingKey: subgroupOrder - 1n }, levels, [3, 4]),
    ],
  ])('%s: D, y and all constraints agree with poseidon-lite', async (_, spend) => {
    const input = toSpendInput(spend);
    const witness = await computeWitness(circuit.wasm, input);
    expect(witness.slice(1, 4)).toEqual([input.D, input.z, input.y]);
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });
});

describe('inputs', () => {
  it('a note that is not in the tree', async () => {
    const spend = { ...transfer, inputNonces: [sample('other'), at(transfer.inputNonces, 1)] };
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });

  it('a note with a larger amount than the one in the tree', async () => {
    const spend = {
      ...send,
      inputAmounts: [at(send.inputAmounts, 0) + 1n, 0n],
      changeAmount: send.changeAmount + 1n,
    };
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });

  it('another note root', async () => {
    expect(await breakWith(loose, { ...transfer, noteRoot: sample('root') })).toHaveLength(2);
  });

  it("a victim's note with the victim's viewing key and the thief's wallet", async () => {
    expect(await breakWith(loose, { ...send, wxLo: send.wxLo + 1n })).toHaveLength(1);
  });

  it('a note with another viewing key than the one of its P', async () => {
    expect(await breakWith(loose, { ...send, viewingKey: 7n })).toHaveLength(1);
  });

  it('an amount of 2^128', async () => {
    const spend = {
      ...send,
      inputAmounts: [2n ** 128n, 0n],
      changeAmount: 2n ** 128n - send.withdrawAmount,
    };
    expect(await breakWith(loose, withPaths(spend, levels, [2]))).toHaveLength(1);
  });

  it('a negative amount (r - 5) in a dummy-like second note', async () => {
    const spend = {
      ...transfer,
      inputAmounts: [at(transfer.inputAmounts, 0), R - 5n],
      changeAmount: at(transfer.inputAmounts, 0) - 5n - at(transfer.amounts, 0),
    };
    expect(await breakWith(loose, withPaths(spend, levels, [3, 4]))).toHaveLength(1);
  });

  it('a dummy with an amount', async () => {
    const spend = { ...send, inputAmounts: [at(send.inputAmounts, 0), 7n] };
    const rich = { ...spend, changeAmount: send.changeAmount + 7n };
    expect(await breakWith(loose, rich)).toHaveLength(1);
  });

  it('a first input that is a dummy', async () => {
    const spend = {
      ...send,
      inputEnabled: [0n, 0n],
      inputAmounts: [0n, 0n],
      changeAmount: 0n,
      withdrawAmount: 0n,
    };
    expect((await breakWith(noFirst, spend)).length).toBeGreaterThan(0);
  });

  it('an enabled flag that is neither 0 nor 1, which gives a note another nullifier', async () => {
    const flag = 2n;
    const spend = { ...transfer, inputEnabled: [1n, flag] };
    const tags = ['NULLIFIER', 'DUMMY'].map(computeTag);
    const [nullifier = 0n, dummy = 0n] = tags;
    const tag = (((flag * (nullifier - dummy) + dummy) % R) + R) % R;
    // The amount is 0: (1 - flag) · amount must be 0.
    const empty = withPaths(
      {
        ...spend,
        inputAmounts: [at(transfer.inputAmounts, 0), 0n],
        changeAmount: at(transfer.inputAmounts, 0) - at(transfer.amounts, 0),
      },
      levels,
      [3, 4],
    );
    const broken = await breakWith(loose, empty, { nullifierTags: [nullifier, tag] });
    expect(broken).toHaveLength(1);
  });

  it('a dummy that carries the nonce of a note has another nullifier than the note', async () => {
    const stolen = { ...send, inputNonces: send.inputNonces.with(1, sample('a real nonce')) };
    const asNote = { ...stolen, inputEnabled: [1n, 1n] };
    expect(at(computeNullifiers(stolen), 1)).not.toBe(at(computeNullifiers(asNote), 1));
    const swapped = ['DUMMY', 'NULLIFIER'].map(computeTag);
    await acceptWith(otherTag, stolen, { nullifierTags: swapped });
  });

  it.each([
    ['0', 0n],
    ['l', subgroupOrder],
    ['l + 1, whose P is that of 1', subgroupOrder + 1n],
    ['7 l + 5', 7n * subgroupOrder + 5n],
    ['2^251', 2n ** 251n],
    ['r - 1', R - 1n],
  ])('refuses the viewing key %s', async (_, viewingKey) => {
    const spend = withPaths({ ...transfer, viewingKey }, levels, [3, 4]);
    await expect(computeWitness(circuit.wasm, toSpendInput(spend))).rejects.toThrow(
      'Assert Failed',
    );
  });

  it('a viewing key v + l, which has the same P and another nullifier', async () => {
    const small = withPaths({ ...transfer, viewingKey: 5n }, levels, [3, 4]);
    const aliased = { ...small, viewingKey: 5n + subgroupOrder };
    expect(multiplyBase(aliased.viewingKey)).toEqual(multiplyBase(5n));
    expect(computeNullifiers(aliased)).not.toEqual(computeNullifiers(small));
    expect(computeInputNotes(aliased)).toEqual(computeInputNotes(small));
    expect((await breakWith(loose, aliased)).length).toBeGreaterThan(0);
  });

  it('the viewing key 0, whose P is the identity', async () => {
    const spend = withPaths({ ...transfer, viewingKey: 0n }, levels, [3, 4]);
    expect(multiplyBase(0n)).toEqual({ x: 0n, y: 1n });
    expect(await breakWith(zeroKey, spend)).toHaveLength(1);
  });
});

describe('paths', () => {
  const depthOf = (spend: Spend, depth: bigint): Spend => ({
    ...spend,
    inputDepths: spend.inputDepths.with(0, depth),
  });

  it.each([0n, 1n, 3n, 5n])('refuses depth %s of a path of 2', async (depth) => {
    await expect(computeWitness(circuit.wasm, toSpendInput(depthOf(send, depth)))).rejects.toThrow(
      'Assert Failed',
    );
  });

  it('a depth of no level, with the note root 0', async () => {
    expect(await breakWith(loose, { ...depthOf(send, 0n), noteRoot: 0n })).toHaveLength(1);
  });

  it('a depth that the vector does not have', async () => {
    const witness = await computeWitness(circuit.wasm, toSpendInput(send));
    const tampered = witness.with(circuit.wireOf('inputDepths[0]'), 3n);
    expect(findBrokenConstraints(circuit.r1cs, tampered)).toHaveLength(1);
  });

  it('a vector that is not one-hot, by which the prover mixes nodes into a root of its choice', async () => {
    // The entries 2, -2, 1 add up to 1 and have the place 2 - 4 + 3 = 1, the depth of the dummy.
    const entries = [2n, R - 2n, 1n];
    const witness = await computeWitness(circuit.wasm, toSpendInput(send));
    const tampered = [...witness];
    let root = 0n;
    for (const [i, entry] of entries.entries()) {
      const node = at(witness, circuit.wireOf(`paths[1].nodes[${i}].out`));
      const chosen = (entry * node) % R;
      tampered[circuit.wireOf(`paths[1].isTop[${i}]`)] = entry;
      tampered[circuit.wireOf(`paths[1].chosen[${i}]`)] = chosen;
      root = (root + chosen) % R;
    }
    tampered[circuit.wireOf('paths[1].root')] = root;
    // The rows of the two entries that are not boolean.
    expect(findBrokenConstraints(circuit.r1cs, tampered)).toHaveLength(2);
  });

  it('a direction that is not 0 or 1', async () => {
    const witness = await computeWitness(circuit.wasm, toSpendInput(send));
    const [low, high] = [0, 1].map((i) => circuit.wireOf(`paths[0].directions.bits[${i}]`));
    // -1 + 2 · 1 is the index of the note, 1. Broken are the row of the bit that is not boolean, and two that place nodes.
    const tampered = witness.with(low ?? 0, R - 1n).with(high ?? 0, 1n);
    expect(at(send.inputIndices, 0)).toBe(1n);
    expect(findBrokenConstraints(circuit.r1cs, tampered)).toHaveLength(3);
  });

  it('the node on the other side', async () => {
    const spend = {
      ...send,
      inputIndices: send.inputIndices.with(0, 3n - at(send.inputIndices, 0)),
    };
    expect(climb(1n, 1, [2n])).not.toBe(climb(1n, 0, [2n]));
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });
});

describe('outputs', () => {
  it('a payee who is not eligible, with an amount', async () => {
    const spend = { ...transfer, walletIds: [sample('stranger')] };
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });

  it('a payee with an amount in a send', async () => {
    expect(await breakWith(loose, { ...transfer, eligibilityRoot: 0n })).toHaveLength(1);
  });

  it('wallet 0 at an empty leaf, with an amount', async () => {
    const tree = createEligibilityTree(new Map([[1, sample('member')]]));
    const spend = {
      ...transfer,
      walletIds: [0n],
      leafIndices: [7n],
      siblings: [tree.siblings(7)],
      eligibilityRoot: tree.root,
    };
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });

  it('a change for another wallet', async () => {
    const spend = { ...send, walletIds: [sample('stranger')] };
    const deviation = { changeWalletId: sample('stranger') };
    await acceptWith(otherChange, spend, deviation);
  });

  it('a change of amount 0 for another wallet', async () => {
    const spend = {
      ...send,
      walletIds: [sample('stranger')],
      changeAmount: 0n,
      withdrawAmount: at(send.inputAmounts, 0),
    };
    const deviation = { changeWalletId: sample('stranger') };
    await acceptWith(otherChange, spend, deviation);
  });

  it('a change under a P of the choice of the spender is accepted', async () => {
    const input = toSpendInput({ ...send, changePx: 5n, changePy: 6n });
    const witness = await computeWitness(circuit.wasm, input);
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });

  it.each([
    ['change', { changeAmount: 2n ** 128n, amounts: [R - 2n ** 128n + 3_000_000n] }, 2],
    ['a negative change (r - 5)', { changeAmount: R - 5n, amounts: [3_000_005n] }, 1],
    ['a withdrawal of r - 5', { withdrawAmount: R - 5n, changeAmount: 2_999_005n }, 1],
  ])('an amount out of range: %s', async (_, change, rows) => {
    expect(await breakWith(loose, { ...transfer, ...change })).toHaveLength(rows);
  });

  it.each([1n, -1n])('outputs that are off by %s', async (error) => {
    const spend = { ...transfer, changeAmount: transfer.changeAmount + error };
    expect(await breakWith(loose, spend)).toHaveLength(1);
  });

  it('a withdrawal that is not in the balance', async () => {
    expect(await breakWith(loose, { ...transfer, withdrawAmount: 1n })).toHaveLength(1);
  });

  it('a nonce that is not the one of its slot', async () => {
    expect(await breakWith(otherNonce, transfer, { slotOf: (slot) => 2 * slot })).toHaveLength(1);
  });

  it('nonces that do not depend on the first nullifier', async () => {
    const deviation = { baseNullifier: transfer.deadline };
    await acceptWith(otherBase, transfer, deviation);
  });
});

describe('the operation and its digest', () => {
  it('the digest of another operation', async () => {
    await acceptWith(otherMessage, transfer, { digest: transfer.secret });
  });

  it('the tag of the other circuit', async () => {
    const input = toSpendInput(transfer, { operationTag: computeTag('OP_16x8') });
    await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
    const other = await compileTest(main.replace('OP_2x4', 'OP_16x8'), stub);
    const witness = await computeWitness(other.wasm, input);
    expect(findBrokenConstraints(other.r1cs, witness)).toEqual([]);
  });

  it('a D of other values', async () => {
    expect(await breakWith(loose, transfer, {}, { D: sample('digest') })).toHaveLength(1);
  });

  it('a y of other values', async () => {
    expect(await breakWith(loose, transfer, {}, { y: sample('y') })).toHaveLength(1);
  });

  it.each(['recipient', 'deadline', 'sealedLo', 'sealedHi', 'salt', 'rLo', 'rHi'] as const)(
    'the public signals of a spend with another %s',
    async (name) => {
      const input = { ...toSpendInput(transfer), [name]: transfer[name] + 1n };
      await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
    },
  );
});

describe('each element of x is bound by D and y (protocol §5)', () => {
  const { x, D: honestDigest } = computeSpendVector(transfer);
  const names = [
    'assetId',
    'withdrawAmount',
    'recipient',
    'deadline',
    'sealedLo',
    'sealedHi',
    'outRoot',
    'nf_0',
    'nf_1',
    'cOut_0',
    'cOut_1',
    'noteRoot',
    'eligibilityRoot',
    "W'xLo",
    "W'xHi",
    "W'yLo",
    "W'yHi",
    "m'Lo",
    "m'Hi",
    'rLo',
    'rHi',
  ];

  it('has these elements', () => {
    expect(x).toHaveLength(names.length);
    expect(computeSpendDigest(x, inputs, outputs)).toBe(honestDigest);
  });

  it.each(names.map((name, i) => [name, i] as const))('%s', async (_, index) => {
    const flipped = x.map((value, i) => (i === index ? (value + 1n) % R : value));
    // The prover must have fixed D before z exists. With the honest D the verifier's y is one of the flipped vector.
    const underHonestDigest = { D: honestDigest, ...computeChallenge(honestDigest, flipped) };
    expect(await breakWith(loose, transfer, {}, underHonestDigest)).toHaveLength(1);
    const D = computeSpendDigest(flipped, inputs, outputs);
    const isCommitment = index === 9 || index === 10;
    expect(D === honestDigest).toBe(isCommitment);
    if (!isCommitment) {
      // With the flipped D it is the digest that does not hold, even if y were the honest one at this z.
      const { z } = computeChallenge(D, flipped);
      const other = { D, z, y: computeHorner(x, z) };
      expect(await breakWith(loose, transfer, {}, other)).toHaveLength(1);
    }
  });
});

describe('every wire is held by some constraint', () => {
  it('a change of any single wire of an honest witness is refused', async () => {
    const witness = await computeWitness(circuit.wasm, toSpendInput(send));
    const { r1cs } = circuit;
    const rowsOf = Array.from({ length: r1cs.wires }, () => new Set<number>());
    // C first: there a wire has its defining row, and the search below ends with the first broken row.
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
    expect(free).toEqual([]);
  });

  it('w and the nullifiers are those of protocol §2 and §3', () => {
    const { wxLo, wxHi, wyLo, wyHi } = send;
    expect(computeWalletId(send)).toBe(poseidon5([computeTag('WALLET'), wxLo, wxHi, wyLo, wyHi]));
  });
});
