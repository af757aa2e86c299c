/**
 * A small spend circuit with a stub in place of the hidden signer, and its mutants: the circuit without a group of constraints. A
 * mutant accepts a dishonest spend, which proves that nothing else is wrong with it. Its witness, moved onto the real circuit, must
 * break exactly the rows of the group.
 */
import { expect } from 'vitest';
import { findBrokenConstraints } from './constraints.ts';
import { createSpend, type Deviation, type Spend, signerStub, toSpendInput } from './spend.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  type Mutation,
  transferWitness,
} from './witness.ts';

export const inputs = 2;
export const outputs = 2;
export const levels = 4;
export const shape = { inputs, outputs, levels, windows: 1 };

/** Two notes, and one payee. */
export const transfer = createSpend({ ...shape, depths: [3, 4], payees: 1 });
/** One note and a dummy, and nobody is paid inside. */
export const send = createSpend({ ...shape, depths: [2], payees: 0 });

/** @param tag function that names the operation's tag */
export function compileSpend(
  mutations: readonly Mutation[] = [],
  tag = 'TAG_OP_2x4',
): Promise<CompiledTest> {
  const main = `include "spend.circom";
component main {public [D, z, y]} = Spend(${inputs}, ${outputs}, ${levels}, 1, ${tag}());`;
  return compileTest(main, { file: 'hidden-signer.circom', text: signerStub }, ...mutations);
}

export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}

const mutants = new Map<unknown, Promise<CompiledTest>>();

/** The mutant's witness of a dishonest spend that the real circuit refuses. */
export async function acceptWith(
  circuit: CompiledTest,
  mutation: Mutation | readonly Mutation[],
  spend: Spend,
  deviation: Deviation = {},
  publicSignals: Partial<Record<'D' | 'z' | 'y', bigint>> = {},
): Promise<{ mutant: CompiledTest; witness: bigint[] }> {
  const mutant = await (mutants.get(mutation) ?? compileSpend([mutation].flat()));
  mutants.set(mutation, Promise.resolve(mutant));
  const input = { ...toSpendInput(spend, deviation), ...publicSignals };
  const witness = await computeWitness(mutant.wasm, input);
  expect(findBrokenConstraints(mutant.r1cs, witness)).toEqual([]);
  await expect(computeWitness(circuit.wasm, input)).rejects.toThrow('Assert Failed');
  return { mutant, witness };
}

/** The rows of the real circuit that a dishonest spend breaks, when made with a mutant that accepts it. */
export async function breakWith(...parts: Parameters<typeof acceptWith>): Promise<number[]> {
  const [circuit] = parts;
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
export const loose: readonly Mutation[] = [
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
export const noFirst = withoutRow('spend.circom', 'inputEnabled[0] === 1;');
export const zeroKey: Mutation = {
  file: 'baby-jubjub.circom',
  from: 'scalar * inverse === 1;',
  to: 'inverse * inverse === inverse;',
};
// These change which signal is used, so that no row says it: the real circuit has another D for such a spend.
export const otherTag: Mutation = {
  file: 'spend.circom',
  from: 'inputEnabled[j] * (TAG_NULLIFIER() - TAG_DUMMY()) + TAG_DUMMY();',
  to: 'inputEnabled[j] * (TAG_DUMMY() - TAG_NULLIFIER()) + TAG_NULLIFIER();',
};
export const otherNonce: Mutation = {
  file: 'spend.circom',
  from: 'base.out + i;',
  to: 'base.out + 2 * i;',
};
export const otherBase: Mutation = {
  file: 'spend.circom',
  from: 'base.inputs[1] <== nullifiers[0].out;',
  to: 'base.inputs[1] <== deadline;',
};
export const otherChange: Mutation = {
  file: 'spend.circom',
  from: 'change.inputs[3] <== wallet.out;',
  to: 'change.inputs[3] <== walletIds[0];',
};
export const otherMessage: Mutation = {
  file: 'spend.circom',
  from: 'signer.m <== message.out;',
  to: 'signer.m <== secret;',
};
export const otherOutRoot: Mutation = {
  file: 'spend.circom',
  from: 'operation.values[6] <== out.root;',
  to: 'operation.values[6] <== secret;',
};
export const otherSalt: Mutation = {
  file: 'spend.circom',
  from: 'message.inputs[2] <== salt;',
  to: 'message.inputs[2] <== secret;',
};
/** Mutants whose nullifiers contain the deadline in the place of one of their parts, by the part's index. */
export const otherNullifierParts = (
  [
    [1, 'assetId'],
    [2, 'inputNonces[j]'],
    [3, 'viewingKey'],
    [4, 'wallet.out'],
  ] as const
).map(([index, part]) => ({
  index,
  part,
  mutation: {
    file: 'spend.circom',
    from: `nullifiers[j].inputs[${index}] <== ${part};`,
    to: `nullifiers[j].inputs[${index}] <== deadline;`,
  } satisfies Mutation,
}));
