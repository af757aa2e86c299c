/**
 * Many small proofs in one process: memory stays flat. 200 by default, 1,000 with POOL_TEST_FULL=1.
 */
import { rm } from 'node:fs/promises';
import { groth16 } from 'snarkjs';
import { expect, it } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../test/small-circuit.ts';
import { createProver } from './create-prover.ts';
import type { ProofResult } from './groth16.ts';

const PROOFS = process.env['POOL_TEST_FULL'] === '1' ? 1_000 : 200;
const AT_ONCE = 20;

it(`${PROOFS} proofs of two circuits, ${AT_ONCE} at once, do not let memory grow`, async () => {
  const circuits = [await createSmallCircuit(), await createSmallCircuit(squaresSource(5), 4)];
  const prover = createProver({ accelerator: 'cpu' });
  try {
    const proveOne = (i: number): Promise<[SmallCircuit, ProofResult]> => {
      const circuit = circuits[i % 2]!;
      const input =
        i % 2 === 0 ? { product: 3 * i, a: 3, b: i } : { start: i, offsets: [i + 1, -i] };
      return prover.prove({ circuit, input }).then((result) => [circuit, result]);
    };
    const proveSome = (first: number, count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => proveOne(first + i)));
    const measure = () => {
      const { rss } = process.memoryUsage();
      return { rss, residentBytes: prover.metrics().residentBytes };
    };
    // Threads, compiled code and keys are there after the first round.
    await proveSome(0, 2 * AT_ONCE);
    const before = measure();
    let last: [SmallCircuit, ProofResult][] = [];
    for (let done = 2 * AT_ONCE; done < PROOFS; done += AT_ONCE) {
      last = await proveSome(done, AT_ONCE);
    }
    const after = measure();
    expect(after.residentBytes).toBe(before.residentBytes);
    expect(after.rss - before.rss).toBeLessThan(128 * 2 ** 20);
    expect(prover.metrics()).toMatchObject({ proofs: PROOFS, failures: 0, residentKeys: 2 });
    for (const [{ verificationKey }, { proof, publicSignals }] of last.slice(-4)) {
      expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    }
  } finally {
    await prover.close();
    await endSnarkjsThreads();
    for (const { folder } of circuits) {
      await rm(folder, { recursive: true, force: true });
    }
  }
});
