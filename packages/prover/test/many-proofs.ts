/**
 * A process that makes many proofs and reports its memory. For tests only.
 *
 *   node --expose-gc --conditions=@pool/source many-proofs.ts < task.json
 */
import { text } from 'node:stream/consumers';
import { createProver, type ProofResult, type ProvingArtifact } from '../src/index.ts';

export type ManyProofsTask = {
  readonly proofs: number;
  readonly atOnce: number;
  /** Used in turn. Inputs are JSON. */
  readonly circuits: readonly {
    readonly circuit: ProvingArtifact;
    readonly input: Readonly<Record<string, unknown>>;
  }[];
};

export type ManyProofsReport = {
  /** Resident memory of the process after each round, in bytes. */
  readonly rss: readonly number[];
  /** Memory of the keys after the first round and after the last. */
  readonly residentBytes: readonly number[];
  /** Of the main thread, after garbage collection. */
  readonly heapBytes: readonly number[];
  readonly proofs: number;
  readonly failures: number;
  readonly last: readonly ProofResult[];
};

const { proofs, atOnce, circuits } = JSON.parse(await text(process.stdin)) as ManyProofsTask;
const prover = createProver({ accelerator: 'cpu' });
const rss: number[] = [];
const heapBytes: number[] = [];
const residentBytes: number[] = [];
let last: ProofResult[] = [];
for (let done = 0; done < proofs; done += atOnce) {
  last = await Promise.all(
    Array.from({ length: atOnce }, (_, i) => prover.prove(circuits[i % circuits.length]!)),
  );
  (globalThis as { gc?: () => void }).gc?.();
  const usage = process.memoryUsage();
  rss.push(usage.rss);
  heapBytes.push(usage.heapUsed);
  residentBytes.push(prover.metrics().residentBytes);
}
const metrics = prover.metrics();
await prover.close();
const report: ManyProofsReport = {
  rss,
  heapBytes,
  residentBytes: [residentBytes[0] ?? 0, residentBytes.at(-1) ?? 0],
  proofs: metrics.proofs,
  failures: metrics.failures,
  last,
};
process.stdout.write(JSON.stringify(report));
