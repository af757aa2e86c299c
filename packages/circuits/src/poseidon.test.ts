import { poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6 } from 'poseidon-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R, sample } from '../test/fund-batch.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
} from '../test/witness.ts';

const reference = [poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6];

afterAll(endSnarkjsThreads);

describe('Poseidon against poseidon-lite', () => {
  let compiled: CompiledTest;
  beforeAll(async () => {
    compiled = await compileTest(`
      include "poseidon.circom";
      template All() {
        signal input inputs[6];
        signal output out[6];
        component hash[6];
        for (var k = 1; k <= 6; k++) {
          hash[k - 1] = Poseidon(k);
          for (var i = 0; i < k; i++) { hash[k - 1].inputs[i] <== inputs[i]; }
          out[k - 1] <== hash[k - 1].out;
        }
      }
      component main = All();`);
  });

  it.each([
    ['zeros', [0n, 0n, 0n, 0n, 0n, 0n]],
    ['small numbers', [1n, 2n, 3n, 4n, 5n, 6n]],
    ['the largest elements', [R - 1n, R - 2n, R - 3n, R - 4n, R - 5n, R - 6n]],
    ['arbitrary elements', [1, 2, 3, 4, 5, 6].map((i) => sample(`poseidon ${i}`))],
  ])('%s, one to six inputs', async (_, inputs) => {
    const witness = await computeWitness(compiled.wasm, { inputs });
    const expected = reference.map((hash, i) => hash(inputs.slice(0, i + 1)));
    expect(witness.slice(1, 7)).toEqual(expected);
    expect(findBrokenConstraints(compiled.r1cs, witness)).toEqual([]);
  });
});
