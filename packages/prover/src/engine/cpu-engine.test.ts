import { copyFile, rm, truncate } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOracleEngine } from '../../test/oracle-engine.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { createSyntheticKey } from '../../test/synthetic-key.ts';
import { createWitnessRunner } from '../witness/witness-runner.ts';
import { openZkey } from '../zkey/open-zkey.ts';
import { createCpuEngine } from './cpu-engine.ts';
import type { Engine } from './engine.ts';

const runner = createWitnessRunner({ maximumBytes: 2 ** 30, timeoutMs: 60_000 });
const oracle = createOracleEngine();
let engine: Engine;
let factors: SmallCircuit;
let squares: SmallCircuit;
beforeAll(async () => {
  engine = await createCpuEngine({ threads: 2 });
  factors = await createSmallCircuit();
  squares = await createSmallCircuit(squaresSource(20), 6);
});
afterAll(async () => {
  await engine.close();
  await runner.close();
  await endSnarkjsThreads();
  await rm(factors.folder, { recursive: true, force: true });
  await rm(squares.folder, { recursive: true, force: true });
});

async function compute(by: Engine, circuit: SmallCircuit, input: unknown) {
  const witness = await runner.compute(circuit.wasm, input);
  const zkey = await openZkey(circuit.zkey);
  const key = await by.load(zkey);
  await zkey.close();
  try {
    return await key.computeSums(witness);
  } finally {
    key.release();
  }
}

describe('the sums', () => {
  it('equal those of the plain engine, point by point', async () => {
    const cases: [SmallCircuit, unknown][] = [
      [factors, { product: 391, a: 17, b: 23 }],
      [factors, { product: 0, a: 0, b: 0 }],
      [factors, { product: 1, a: -1, b: -1 }],
      [squares, { start: 3, offsets: [1, 2] }],
      [squares, { start: 0, offsets: [0, 0] }],
      [squares, { start: 1, offsets: [0, 0] }],
      [squares, { start: -1, offsets: [-1, '12345678901234567890123456789'] }],
    ];
    for (const [circuit, input] of cases) {
      expect(await compute(engine, circuit, input)).toEqual(await compute(oracle, circuit, input));
    }
  });

  it('can be computed several times at once with one key', async () => {
    const zkey = await openZkey(squares.zkey);
    const key = await engine.load(zkey);
    await zkey.close();
    const inputs = [1, 2, 3].map((start) => ({ start, offsets: [5, 6] }));
    const witnesses = [];
    for (const input of inputs) witnesses.push(await runner.compute(squares.wasm, input));
    const sums = await Promise.all(witnesses.map((witness) => key.computeSums(witness)));
    for (const [i, input] of inputs.entries()) {
      expect(sums[i]).toEqual(await compute(oracle, squares, input));
    }
    key.release();
  });

  it('report each part from 0 to 1, never decreasing', async () => {
    const zkey = await openZkey(squares.zkey);
    const key = await engine.load(zkey);
    await zkey.close();
    const witness = await runner.compute(squares.wasm, { start: 3, offsets: [1, 2] });
    const onProgress = vi.fn<(part: string, fraction: number) => void>();
    await key.computeSums(witness, { onProgress });
    for (const part of ['quotient', 'sums']) {
      const fractions = onProgress.mock.calls.filter(([of]) => of === part).map(([, at]) => at);
      expect(fractions.length).toBeGreaterThan(1);
      expect(fractions).toEqual(fractions.toSorted((left, right) => left - right));
      expect(fractions.at(-1)).toBe(1);
    }
    key.release();
  });

  it('end with an abort, and the engine continues', async () => {
    const zkey = await openZkey(squares.zkey);
    const key = await engine.load(zkey);
    await zkey.close();
    const input = { start: 3, offsets: [1, 2] };
    const witness = await runner.compute(squares.wasm, input);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(key.computeSums(witness, { signal })).rejects.toThrow('enough');
    expect(await key.computeSums(witness)).toEqual(await compute(oracle, squares, input));
    key.release();
  });

  it('fail with a code after the engine is closed', async () => {
    const closing = await createCpuEngine({ threads: 1 });
    const zkey = await openZkey(factors.zkey);
    const key = await closing.load(zkey);
    await zkey.close();
    const witness = await runner.compute(factors.wasm, { product: 6, a: 2, b: 3 });
    await closing.close();
    await expect(key.computeSums(witness)).rejects.toEqual(
      expect.objectContaining({ code: 'proof_failed', retryable: true }),
    );
  });
});

it('describes what it runs on, and how much memory a key needs', async () => {
  expect(engine.kind).toBe('cpu');
  expect(engine.detail).toMatch(/WebAssembly, 2 threads/);
  const zkey = await openZkey(squares.zkey);
  const onProgress = vi.fn();
  const key = await engine.load(zkey, { onProgress });
  expect(key.bytes).toBeGreaterThan(0);
  const single = await createCpuEngine({ threads: 1 });
  const least = single.estimateBytes?.(zkey.header) ?? 0;
  await single.close();
  expect(least).toBeGreaterThan(0);
  // Each thread has buckets and lists of its own.
  expect(engine.estimateBytes?.(zkey.header)).toBeGreaterThan(least);
  expect(onProgress).toHaveBeenLastCalledWith('load', 1);
  key.release();
  await zkey.close();
});

it('refuses a key beyond its memory with a code', async () => {
  const small = await createCpuEngine({ threads: 1, maximumBytes: 2 ** 17 });
  const { zkey } = createSyntheticKey({ domainSize: 256, wires: 203, publicSignals: 3 });
  await expect(small.load(zkey)).rejects.toEqual(
    expect.objectContaining({ code: 'memory_budget_exceeded' }),
  );
  await small.close();
});

it('a key that becomes shorter while it is loaded is refused, and its memory is free for the next key', async () => {
  const path = `${squares.folder}/shorter.zkey`;
  await copyFile(squares.zkey, path);
  const zkey = await openZkey(path);
  const shrinking = {
    ...zkey,
    readPoints: async (...args: Parameters<typeof zkey.readPoints>) => {
      if (args[0] === 'b2') await truncate(path, 2_000);
      await zkey.readPoints(...args);
    },
  };
  await expect(engine.load(shrinking)).rejects.toMatchObject({
    code: 'zkey_malformed',
    message: expect.stringMatching(/shorter/),
  });
  await zkey.close();
  const input = { start: 3, offsets: [1, 2] };
  expect(await compute(engine, squares, input)).toEqual(await compute(oracle, squares, input));
});
