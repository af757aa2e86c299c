import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { R } from '../../test/fund-batch.ts';
import { compileTest, computeWitness, endSnarkjsThreads } from '../../test/witness.ts';
import { accelerateProgram } from './accelerate-program.ts';
import { computePoseidonParameters } from './poseidon-function.ts';

afterAll(endSnarkjsThreads);

/** Every width of Poseidon, on inputs in every form that a signal has; and products and sums of such values. */
const main = `
  include "poseidon.circom";
  template Arithmetic() {
    signal input a;
    signal input b;
    signal output out[16];
    var small = (a & 3) - 1;
    var bit = b & 1;
    out[0] <== a * b;
    out[1] <== a + b;
    out[2] <-- small * b;
    out[3] <-- b * small;
    out[4] <-- small + b;
    out[5] <-- b + small;
    out[6] <-- bit * (a * b);
    out[7] <-- (a * b) * bit;
    out[8] <-- small * bit;
    out[9] <-- small * (b & 0x7fffffff) * 0x7fffffff;
    out[10] <-- (small + 0) * 1 + 0 * a + bit;
    out[12] <-- (a & 0xffffffff) % ((b & 7) + 1);
    out[13] <-- (a & 0xffffffff) \\ ((b & 7) + 1);
    out[14] <-- small % 3 + 7 % (bit + 2);
    out[15] <-- small \\ 3 + 7 \\ (bit + 2);
    out[11] <-- 5 * small + (a * b + bit) * small;
  }
  template Main() {
    signal input inputs[6];
    signal output out[6];
    component hash[6];
    for (var k = 1; k <= 6; k++) {
      hash[k - 1] = Poseidon(k);
      for (var i = 0; i < k; i++) {
        // Sums and products are in other forms than inputs.
        if (i % 3 == 0) { hash[k - 1].inputs[i] <== inputs[i]; }
        if (i % 3 == 1) { hash[k - 1].inputs[i] <== 3 * inputs[i] - 7; }
        if (i % 3 == 2) { hash[k - 1].inputs[i] <== inputs[i] * inputs[i]; }
      }
      out[k - 1] <== hash[k - 1].out;
    }
    component arithmetic = Arithmetic();
    arithmetic.a <== inputs[0];
    arithmetic.b <== inputs[1];
  }
  component main = Main();`;

let program: Uint8Array;
let accelerated: Uint8Array;
beforeAll(async () => {
  program = (await compileTest(main)).wasm;
  accelerated = accelerateProgram(program);
});

const element = fc.oneof(
  fc.bigInt(0n, R - 1n),
  fc.bigInt(0n, 3n),
  fc.bigInt(R - 9n, R - 1n),
  fc.bigInt(2n ** 31n - 3n, 2n ** 32n + 3n),
);

/** The S-box of H_1 gets 0. */
const toZero = R - (computePoseidonParameters(2).roundConstants[0]?.[1] ?? 0n);

it("has the wires of circom's program", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(element, { minLength: 6, maxLength: 6 }), async (inputs) => {
      expect(await computeWitness(accelerated, { inputs })).toEqual(
        await computeWitness(program, { inputs }),
      );
    }),
    { numRuns: 100, examples: [0n, R - 1n, toZero].map((value) => [Array<bigint>(6).fill(value)]) },
  );
});

it('refuses a program in which it does not find what it replaces', () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  expect(() => accelerateProgram(empty)).toThrow('unknown form');
  // Another name of the function that adds.
  const renamed = Buffer.from(
    Buffer.from(program).toString('latin1').replace('Fr_add', 'Fr_abc'),
    'latin1',
  );
  expect(() => accelerateProgram(renamed)).toThrow('has no function Fr_add');
});
