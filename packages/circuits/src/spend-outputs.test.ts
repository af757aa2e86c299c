/**
 * The outputs, the operation and the public vector of a small spend circuit (protocol §5, §6): each group of constraints is needed. The
 * method is that of fund.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import {
  computeChallenge,
  computeHorner,
  computeTag,
  createEligibilityTree,
  R,
  sample,
} from '../test/fund-batch.ts';
import { computeSpendDigest, computeSpendVector, toSpendInput } from '../test/spend.ts';
import {
  acceptWith,
  at,
  breakWith,
  compileSpend,
  inputs,
  loose,
  otherBase,
  otherChange,
  otherMessage,
  otherNonce,
  otherOutRoot,
  otherSalt,
  outputs,
  send,
  transfer,
} from '../test/spend-mutants.ts';
import { type CompiledTest, computeWitness, endSnarkjsThreads } from '../test/witness.ts';

let circuit: CompiledTest;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  circuit = await compileSpend();
});
afterAll(endSnarkjsThreads);

describe('outputs', () => {
  it('a payee who is not eligible, with an amount', async () => {
    const spend = { ...transfer, walletIds: [sample('stranger')] };
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
  });

  it('a payee with an amount in a send', async () => {
    expect(await breakWith(circuit, loose, { ...transfer, eligibilityRoot: 0n })).toHaveLength(1);
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
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
  });

  it('a change for another wallet', async () => {
    const spend = { ...send, walletIds: [sample('stranger')] };
    const deviation = { changeWalletId: sample('stranger') };
    await acceptWith(circuit, otherChange, spend, deviation);
  });

  it('a change of amount 0 for another wallet', async () => {
    const spend = {
      ...send,
      walletIds: [sample('stranger')],
      changeAmount: 0n,
      withdrawAmount: at(send.inputAmounts, 0),
    };
    const deviation = { changeWalletId: sample('stranger') };
    await acceptWith(circuit, otherChange, spend, deviation);
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
    expect(await breakWith(circuit, loose, { ...transfer, ...change })).toHaveLength(rows);
  });

  it.each([1n, -1n])('outputs that are off by %s', async (error) => {
    const spend = { ...transfer, changeAmount: transfer.changeAmount + error };
    expect(await breakWith(circuit, loose, spend)).toHaveLength(1);
  });

  it('a withdrawal that is not in the balance', async () => {
    expect(await breakWith(circuit, loose, { ...transfer, withdrawAmount: 1n })).toHaveLength(1);
  });

  it('a nonce that is not the one of its slot', async () => {
    expect(
      await breakWith(circuit, otherNonce, transfer, { slotOf: (slot) => 2 * slot }),
    ).toHaveLength(1);
  });

  it('nonces that do not depend on the first nullifier', async () => {
    const deviation = { baseNullifier: transfer.deadline };
    await acceptWith(circuit, otherBase, transfer, deviation);
  });
});

describe('the operation and its digest', () => {
  it('the digest of another operation', async () => {
    await acceptWith(circuit, otherMessage, transfer, { digest: transfer.secret });
  });

  it('an operation without the root of its outputs', async () => {
    await acceptWith(circuit, otherOutRoot, transfer, { outRoot: transfer.secret });
  });

  it('a digest without the salt, by which anyone could test who signed', async () => {
    await acceptWith(circuit, otherSalt, transfer, { salt: transfer.secret });
  });

  it('the tag of the other circuit', async () => {
    const input = toSpendInput(transfer, { operationTag: computeTag('OP_16x8') });
    await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
    const other = await compileSpend([], 'TAG_OP_16x8');
    const witness = await computeWitness(other.wasm, input);
    expect(findBrokenConstraints(other.r1cs, witness)).toEqual([]);
  });

  it('a D of other values', async () => {
    expect(await breakWith(circuit, loose, transfer, {}, { D: sample('digest') })).toHaveLength(1);
  });

  it('a y of other values', async () => {
    expect(await breakWith(circuit, loose, transfer, {}, { y: sample('y') })).toHaveLength(1);
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
    expect(await breakWith(circuit, loose, transfer, {}, underHonestDigest)).toHaveLength(1);
    const D = computeSpendDigest(flipped, inputs, outputs);
    const isCommitment = index === 9 || index === 10;
    expect(D === honestDigest).toBe(isCommitment);
    if (!isCommitment) {
      // With the flipped D it is the digest that does not hold, even if y were the honest one at this z.
      const { z } = computeChallenge(D, flipped);
      const other = { D, z, y: computeHorner(x, z) };
      expect(await breakWith(circuit, loose, transfer, {}, other)).toHaveLength(1);
    }
  });
});
