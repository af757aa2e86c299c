import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CompiledCircuit, compileCircuit } from '../../test/small-circuit.ts';
import { parseWitnessInput } from './witness-input.ts';
import { computeWitness } from './witness-program.ts';
import { limitMemory } from './witness-runner.ts';

let circuit: CompiledCircuit;
beforeAll(async () => {
  circuit = await compileCircuit(`pragma circom 2.2.0;
template Square() {
  signal input a;
  signal output b;
  b <== a * a;
}
component main = Square();
`);
});
afterAll(async () => {
  await rm(circuit.folder, { recursive: true, force: true });
});

/** A module that takes all the memory it can and returns the number of pages. */
function greedy(...limits: number[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // One function, of no parameters and an i32.
    ...[1, 5, 1, 0x60, 0, 1, 0x7f],
    ...[3, 2, 1, 0],
    ...[5, 1 + limits.length, 1, ...limits],
    ...[7, 8, 1, 4, 0x67, 0x72, 0x6f, 0x77, 0, 0],
    // loop memory.grow(1) while it is not refused; then memory.size
    ...[10, 18, 1, 16, 0, 3, 0x40, 0x41, 1, 0x40, 0, 0x41, 0x7f, 0x47, 13, 0, 11, 0x3f, 0, 11],
  ]);
}

function grow(bytes: Uint8Array<ArrayBuffer>): unknown {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return (exports as { grow: () => number }).grow();
}

const kib64 = 65_536;

it('a program gets at most the memory of the limit, whatever it declares', () => {
  const noMaximum = greedy(0, 1);
  expect(grow(limitMemory(noMaximum, 200 * kib64))).toBe(200);
  expect(grow(limitMemory(noMaximum, 200 * kib64 + 1))).toBe(200);
  // 16,384 pages, three bytes long.
  const higher = greedy(1, 1, 0x80, 0x80, 0x01);
  expect(grow(limitMemory(higher, 300 * kib64))).toBe(300);
  const lower = greedy(1, 1, 3);
  expect(grow(limitMemory(lower, 300 * kib64))).toBe(3);
  // The same number, encoded in more bytes than necessary.
  expect(grow(limitMemory(greedy(0, 0x81, 0x80, 0x00), 5 * kib64))).toBe(5);
});

it('a program that starts with more memory is refused, with the amount it needs', () => {
  expect(() => limitMemory(greedy(0, 32), 31 * kib64)).toThrow(
    expect.objectContaining({
      code: 'memory_budget_exceeded',
      message: expect.stringMatching(/needs 2 MB/),
    }),
  );
});

it.each([
  ['shared', greedy(3, 1, 1)],
  ['of 64-bit addresses', greedy(4, 1)],
  ['cut off', greedy(0, 1).subarray(0, 23)],
  ['an endless number', greedy(0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01)],
])('a memory that is %s is refused', (_, bytes) => {
  expect(() => limitMemory(Uint8Array.from(bytes), 1e9)).toThrow(
    expect.objectContaining({ code: 'witness_program_malformed' }),
  );
});

it('a circom program computes the same within the limit, and a witness beyond the limit is refused', async () => {
  const bytes = new Uint8Array(await readFile(circuit.wasm));
  const plain = new WebAssembly.Module(bytes);
  const limited = new WebAssembly.Module(limitMemory(bytes, 2 ** 30));
  const signals = parseWitnessInput({ a: 12 });
  const witness = computeWitness(limited, signals, 2 ** 30);
  expect(witness).toEqual(computeWitness(plain, signals, 2 ** 30));
  // Constant, b, a.
  expect([witness.length, witness[0], witness[32], witness[64]]).toEqual([96, 1, 144, 12]);
  expect(() => computeWitness(limited, signals, 95)).toThrow(
    expect.objectContaining({ code: 'memory_budget_exceeded' }),
  );
});
