/**
 * Poseidon over BN254's scalar field with the parameters of the circom ecosystem: x^5, 8 full rounds, width inputs + 1 (protocol
 * §1, `H_k` and `HC`), on the kernels. poseidon-parameters.ts computes the constants. Vectors: vectors/poseidon.json, from poseidon-lite.
 *
 * Numbers enter and leave as bigints, whose conversion is not constant-time. Secrets are hashed only on their owner's machine.
 *
 * @module
 */
import { assertField, type Field } from '@pool/core';
import { directKernels } from './direct-kernels.ts';
import { poseidonParameters } from './poseidon-parameters.ts';

/**
 * `H_k(inputs)`, k from 1 to 6.
 * @throws PoolError `invalid_field_element` for an input outside [0, r), `invalid_value` for another k
 */
export function poseidon(inputs: readonly bigint[]): Field {
  const parameters = poseidonParameters(inputs.length);
  inputs.forEach(assertField);
  return assertField(directKernels().hashPoseidon(parameters, inputs));
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
