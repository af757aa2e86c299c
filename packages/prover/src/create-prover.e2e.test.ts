/**
 * Many small proofs in one process: memory stays flat. 60 by default, 1,000 with POOL_TEST_FULL=1.
 */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { groth16 } from 'snarkjs';
import { expect, it } from 'vitest';
import type { ManyProofsReport, ManyProofsTask } from '../test/many-proofs.ts';
import { createSmallCircuit, endSnarkjsThreads, squaresSource } from '../test/small-circuit.ts';

const proofs = process.env['POOL_TEST_FULL'] === '1' ? 1_000 : 60;
const atOnce = 10;

/** It runs in its own process. Here, the memory of Vitest and snarkjs would be measured too. */
async function proveMany(task: ManyProofsTask): Promise<ManyProofsReport> {
  const program = join(import.meta.dirname, '../test/many-proofs.ts');
  // V8 lets the young generation of a busy process grow to about 100 MB, which would hide a leak.
  const flags = ['--expose-gc', '--max-semi-space-size=2', '--conditions=@pool/source'];
  const args = [...flags, program];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(task));
  const output = await text(child.stdout);
  return JSON.parse(output) as ManyProofsReport;
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The growth of the mean from the second quarter to the last. The first quarter is warm-up, and single values vary with garbage
 * collections.
 */
function growth(series: readonly number[]): number {
  const quarter = Math.floor(series.length / 4);
  return inMegabytes(mean(series.slice(-quarter)) - mean(series.slice(quarter, 2 * quarter)));
}

it(`${proofs} proofs of two circuits, ${atOnce} at once, do not let memory grow`, async ({
  annotate,
}) => {
  const factors = await createSmallCircuit();
  const squares = await createSmallCircuit(squaresSource(5), 4);
  try {
    const { rss, heapBytes, residentBytes, last, ...counts } = await proveMany({
      proofs: proofs,
      atOnce: atOnce,
      circuits: [
        { circuit: factors, input: { product: 391, a: 17, b: 23 } },
        { circuit: squares, input: { start: 3, offsets: [1, -1] } },
      ],
    });
    const step = Math.ceil(rss.length / 10);
    const shown = rss.filter((_, i) => i % step === 0 || i === rss.length - 1).map(inMegabytes);
    await annotate(
      `resident memory, MB: ${shown.join(', ')}; growth ${growth(rss)}, of the heap ${growth(heapBytes)}`,
    );
    expect(counts).toEqual({ proofs: proofs, failures: 0 });
    // The memory of witness programs waits for the garbage collector, so single values differ by up to 60 MB. The average over
    // many does not.
    expect(growth(rss)).toBeLessThan(proofs < 1000 ? 64 : 32);
    expect(growth(heapBytes)).toBeLessThan(3);
    expect(residentBytes[0]).toBe(residentBytes[1]);
    for (const [i, { proof, publicSignals }] of last.entries()) {
      const { verificationKey } = i % 2 === 0 ? factors : squares;
      expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    }
  } finally {
    await endSnarkjsThreads();
    for (const { folder } of [factors, squares]) {
      await rm(folder, { recursive: true, force: true });
    }
  }
});
