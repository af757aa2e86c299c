import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { R } from '../../test/fund-batch.ts';
import { compileTest, computeWitness, endSnarkjsThreads } from '../../test/witness.ts';
import { requireKnownSources } from '../artifacts/build-artifacts.ts';
import { describeCompiler } from '../artifacts/compile.ts';
import { computeDigest } from '../artifacts-manifest.ts';
import { sourceFolder } from '../circuits.ts';
import { accelerateProgram, programVersion } from './accelerate-program.ts';
import { computePoseidonParameters } from './poseidon-function.ts';
import {
  countEntries,
  readEntries,
  readFunctionNames,
  readSections,
  sections,
} from './wasm-sections.ts';

afterAll(endSnarkjsThreads);

/** Every width of Poseidon, on inputs in every form that a signal has; and products and sums of such values. */
const main = `
  include "poseidon.circom";
  template Arithmetic() {
    signal input a;
    signal input b;
    signal output out[40];
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
    // Long forms of 0 to 3.
    var low = a & 3;
    out[16] <-- low * b;
    out[17] <-- b * low;
    out[18] <-- low + b;
    out[19] <-- b + low;
    // Short integers from 1 down to -4.
    var n = a == a;
    for (var i = 0; i < 5; i++) {
      n = n - 1;
      out[20 + i] <-- n \\ 3;
      out[25 + i] <-- n % 3;
      out[30 + i] <-- 7 \\ (n - 1);
      out[35 + i] <-- n * b + n * n;
    }
  }
  template Main() {
    signal input inputs[6];
    signal output out[6];
    signal output values[40];
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
    // Outputs of the main component: wires even without a constraint.
    arithmetic.out ==> values;
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
    {
      numRuns: 100,
      examples: [0n, 1n, 2n, 3n, R - 1n, toZero].map((value) => [Array<bigint>(6).fill(value)]),
    },
  );
});

/** Names and bodies of a program's functions. */
function readBodies(module: Uint8Array): Map<string, Buffer> {
  const list = readSections(module);
  const contentsOf = (id: number) =>
    list.find((section) => section.id === id)?.contents ?? new Uint8Array();
  const bodies = readEntries(contentsOf(sections.code));
  const imported = countEntries(contentsOf(sections.imports));
  const names = list
    .filter(({ id }) => id === sections.custom)
    .flatMap(({ contents }) => [...readFunctionNames(contents)]);
  return new Map(
    names.map(([name, index]) => [name, Buffer.from(bodies[index - imported] ?? [])] as const),
  );
}

/** The program with other names of functions, as long as before. */
function rename(module: Uint8Array, from: string, to: string): Uint8Array {
  return Buffer.from(Buffer.from(module).toString('latin1').replaceAll(from, to), 'latin1');
}

it('replaces each Poseidon and six functions of the field', () => {
  const before = readBodies(program);
  const after = readBodies(accelerated);
  const replaced = [...before].filter(([name, body]) => after.get(name)?.equals(body) !== true);
  const names = replaced.map(([name]) => name.replace(/\d+_run$/, 'run')).sort();
  expect(names).toEqual([
    'Fr_F1m_fromMontgomery',
    'Fr_F1m_mul',
    'Fr_add',
    'Fr_idiv',
    'Fr_mod',
    'Fr_mul',
    ...Array<string>(6).fill('Poseidon_run'),
  ]);
});

// If the second changes, and `main` did not: change programVersion too, and run `pnpm generate`.
it('has a version for its output', () => {
  expect([programVersion, computeDigest(accelerated)]).toEqual([
    2,
    'c2f707da4c29ba4b817c95770a86b987142338468065e29d9cedabf40e072ffd',
  ]);
});

it('refuses a program in which it does not find what it replaces', () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  expect(() => accelerateProgram(empty)).toThrow('unknown form');
  const other = rename(program, 'Fr_add', 'Fr_abc');
  expect(() => accelerateProgram(other)).toThrow('has no function Fr_add');
  const without = rename(program, 'Poseidon', 'Poseidan');
  expect(() => accelerateProgram(without)).toThrow('no template Poseidon');
  expect(() => accelerateProgram(accelerated)).toThrow('accelerated already');
});

it('refuses a program that is cut off, and names the compiler that it knows', () => {
  const [compiler = ''] = describeCompiler().split(' --');
  for (let length = 1; length < program.length; length += 9973) {
    expect(() => accelerateProgram(program.subarray(0, length))).toThrow(
      expect.objectContaining({
        code: 'compile_failed',
        message: expect.stringContaining(`Compile the circuit with ${compiler},`) as string,
      }),
    );
  }
});

it('refuses a memory with a limit, and functions of other types', () => {
  const memory = Buffer.from([sections.memory, 3, 1, 0]);
  const at = Buffer.from(program).indexOf(memory);
  const limited = Uint8Array.from(program);
  limited[at + 3] = 1;
  expect(() => accelerateProgram(limited)).toThrow('its memory has a limit');
  // Fr_neg, which has two parameters, under the name of Fr_add.
  const exchanged = rename(rename(program, 'Fr_add', 'Fr_abc'), 'Fr_neg', 'Fr_add');
  expect(() => accelerateProgram(exchanged)).toThrow('functions have other types');
});

it('is not used for another source', async () => {
  requireKnownSources();
  const folder = await mkdtemp(join(tmpdir(), 'pool-circuit-test-'));
  try {
    await cp(sourceFolder(), folder, { recursive: true });
    await writeFile(join(folder, 'secp256k1-zero.circom'), '// Another.\n');
    expect(() => requireKnownSources(folder)).toThrow('hidden-signer.circom or a file that it');
    await cp(sourceFolder(), folder, { recursive: true });
    await writeFile(join(folder, 'generated/poseidon-constants.circom'), '// Others.\n');
    expect(() => requireKnownSources(folder)).toThrow('poseidon.circom or a file that it');
  } finally {
    await rm(folder, { recursive: true });
  }
});
