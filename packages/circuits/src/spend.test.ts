/**
 * The theorem of protocol §6 on a small spend circuit: honest spends are accepted, and each group of constraints on the inputs is
 * needed. spend-outputs.test.ts tests the outputs and the public vector. The method is that of fund.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { computeTag, R, sample } from '../test/fund-batch.ts';
import {
  climb,
  computeInputNotes,
  computeNullifiers,
  createSpend,
  multiplyBase,
  type Spend,
  subgroupOrder,
  toSpendInput,
  withPaths,
} from '../test/spend.ts';
import {
  acceptWith,
  at,
  breakWith,
  compileSpend,
  levels,
  loose,
  noFirst,
  otherNullifierParts,
  otherTag,
  send,
  shape,
  transfer,
  zeroKey,
} from '../test/spend-mutants.ts';
import { type CompiledTest, computeWitness, endSnarkjsThreads } from '../test/witness.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
let circuit: CompiledTest;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  circuit = await compileSpend();
});
afterAll(endSnarkjsThreads);

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
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
  });

  it('a note with a larger amount than the one in the tree', async () => {
    const spend = {
      ...send,
      inputAmounts: [at(send.inputAmounts, 0) + 1n, 0n],
      changeAmount: send.changeAmount + 1n,
    };
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
  });

  it('another note root', async () => {
    expect(await breakWith(circuit, loose, { ...transfer, noteRoot: sample('root') })).toHaveLength(
      2,
    );
  });

  it("a victim's note with the victim's viewing key and the thief's wallet", async () => {
    expect(await breakWith(circuit, loose, { ...send, wxLo: send.wxLo + 1n })).toHaveLength(1);
  });

  it('a note with another viewing key than the one of its P', async () => {
    expect(await breakWith(circuit, loose, { ...send, viewingKey: 7n })).toHaveLength(1);
  });

  it('an amount of 2^128', async () => {
    const spend = {
      ...send,
      inputAmounts: [2n ** 128n, 0n],
      changeAmount: 2n ** 128n - send.withdrawAmount,
    };
    expect(await breakWith(circuit, loose, withPaths(spend, levels, [2]))).toHaveLength(1);
  });

  it('a negative amount (r - 5) in a dummy-like second note', async () => {
    const spend = {
      ...transfer,
      inputAmounts: [at(transfer.inputAmounts, 0), R - 5n],
      changeAmount: at(transfer.inputAmounts, 0) - 5n - at(transfer.amounts, 0),
    };
    expect(await breakWith(circuit, loose, withPaths(spend, levels, [3, 4]))).toHaveLength(1);
  });

  it('a dummy with an amount', async () => {
    const spend = { ...send, inputAmounts: [at(send.inputAmounts, 0), 7n] };
    const rich = { ...spend, changeAmount: send.changeAmount + 7n };
    expect(await breakWith(circuit, loose, rich)).toHaveLength(1);
  });

  it('a first input that is a dummy', async () => {
    const spend = {
      ...send,
      inputEnabled: [0n, 0n],
      inputAmounts: [0n, 0n],
      changeAmount: 0n,
      withdrawAmount: 0n,
    };
    expect((await breakWith(circuit, noFirst, spend)).length).toBeGreaterThan(0);
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
    const broken = await breakWith(circuit, loose, empty, { nullifierTags: [nullifier, tag] });
    expect(broken).toHaveLength(1);
  });

  it('a dummy that carries the nonce of a note has another nullifier than the note', async () => {
    const stolen = { ...send, inputNonces: send.inputNonces.with(1, sample('a real nonce')) };
    const asNote = { ...stolen, inputEnabled: [1n, 1n] };
    expect(at(computeNullifiers(stolen), 1)).not.toBe(at(computeNullifiers(asNote), 1));
    const swapped = ['DUMMY', 'NULLIFIER'].map(computeTag);
    await acceptWith(circuit, otherTag, stolen, { nullifierTags: swapped });
  });

  it.each(isFullRun ? otherNullifierParts : otherNullifierParts.slice(-1))(
    'a nullifier that does not depend on $part, which another spend of the note could change',
    async ({ index, mutation }) => {
      const nullifiers = computeNullifiers(send, undefined, [index, send.deadline]);
      expect(nullifiers).not.toEqual(computeNullifiers(send));
      await acceptWith(circuit, mutation, send, { nullifiers });
    },
  );

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
    expect((await breakWith(circuit, loose, aliased)).length).toBeGreaterThan(0);
  });

  it('the viewing key 0, whose P is the identity', async () => {
    const spend = withPaths({ ...transfer, viewingKey: 0n }, levels, [3, 4]);
    expect(multiplyBase(0n)).toEqual({ x: 0n, y: 1n });
    expect(await breakWith(circuit, zeroKey, spend)).toHaveLength(1);
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
    expect(await breakWith(circuit, loose, { ...depthOf(send, 0n), noteRoot: 0n })).toHaveLength(1);
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
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
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
});
