/**
 * Poseidon over BN254's scalar field with the parameters of the circom ecosystem: x^5, 8 full rounds, width inputs + 1 (protocol
 * §1, `H_k` and `HC`). The rounds use the optimised form of L. Grassi et al., USENIX Security 2021 (eprint 2019/458), appendix B. scripts/grain.ts derives the constants.
 * Vectors: vectors/poseidon.json, from poseidon-lite.
 *
 * Not constant-time: bigint arithmetic leaks through timing. Secrets are hashed only on their owner's machine.
 *
 * @module
 */
import { assertField, type Field, fieldModulus, PoolError } from '@pool/core';
import { type PoseidonParameters, poseidonParameters } from './poseidon-parameters.generated.ts';

const halfFullRounds = 4;

/**
 * `H_k(inputs)`, k from 1 to 6.
 * @throws PoolError `invalid_field_element` for an input outside [0, r), `invalid_value` for another k
 */
export function poseidon(inputs: readonly bigint[]): Field {
  const parameters = inputs.length === 0 ? undefined : poseidonParameters[inputs.length - 1];
  if (parameters === undefined) {
    throw new PoolError('invalid_value', 'Poseidon takes one to six field elements');
  }
  inputs.forEach(assertField);
  return permute(parameters, inputs);
}

/**
 * The chain hash `HC(tag; elements)` over any number of elements. The hash also commits to their number.
 * @throws PoolError `invalid_field_element`
 */
export function computeChainHash(tag: Field, elements: readonly Field[]): Field {
  let hash = poseidon([tag, BigInt(elements.length)]);
  for (let i = 0; i < elements.length; i += 4) {
    const [a, b = 0n, c = 0n, d = 0n] = elements.slice(i, i + 4);
    hash = poseidon([hash, a ?? 0n, b, c, d]);
  }
  return hash;
}

function permute(parameters: PoseidonParameters, inputs: readonly bigint[]): Field {
  const { fullConstants, matrix, transition } = parameters;
  let state: bigint[] = [0n, ...inputs];
  for (let round = 0; round < halfFullRounds; round += 1) {
    const mixer = round === halfFullRounds - 1 ? transition : matrix;
    state = runFullRound(state, fullConstants[round] ?? [], mixer);
  }
  state = runPartialRounds(parameters, state);
  for (let round = halfFullRounds; round < 2 * halfFullRounds; round += 1) {
    state = runFullRound(state, fullConstants[round] ?? [], matrix);
  }
  return assertField(state[0] ?? 0n);
}

function raiseToFifth(value: bigint): bigint {
  const square = (value * value) % fieldModulus;
  return (((square * square) % fieldModulus) * value) % fieldModulus;
}

function runFullRound(
  state: readonly bigint[],
  constants: readonly bigint[],
  mixer: readonly (readonly bigint[])[],
): bigint[] {
  const powers = state.map((word, i) => raiseToFifth(word + (constants[i] ?? 0n)));
  return mixer.map((row) => {
    let sum = 0n;
    for (let i = 0; i < powers.length; i += 1) {
      sum += (row[i] ?? 0n) * (powers[i] ?? 0n);
    }
    return sum % fieldModulus;
  });
}

/**
 * Words 1 … t-1 only receive multiples of word 0 here and pass no S-box. They are therefore reduced only at the end: at most 64
 * summands below r², about 514 bits.
 */
function runPartialRounds(parameters: PoseidonParameters, state: readonly bigint[]): bigint[] {
  const { partialConstants, matrix, sparseRows, sparseColumns } = parameters;
  const corner = matrix[0]?.[0] ?? 0n;
  const [first = 0n, ...rest] = state;
  let word = first;
  for (let round = 0; round < parameters.partialRounds; round += 1) {
    const power = raiseToFifth(word + (partialConstants[round] ?? 0n));
    const row = sparseRows[round] ?? [];
    const column = sparseColumns[round] ?? [];
    let sum = corner * power;
    for (let i = 0; i < rest.length; i += 1) {
      const value = rest[i] ?? 0n;
      sum += (row[i] ?? 0n) * value;
      rest[i] = value + (column[i] ?? 0n) * power;
    }
    word = sum % fieldModulus;
  }
  return [word, ...rest.map((value) => value % fieldModulus)];
}
