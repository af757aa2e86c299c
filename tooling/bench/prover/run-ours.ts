// One circuit through @pool/prover, in this process: `run-ours.ts <circuit as JSON> <jobs> <accelerator>`; prints a
// ProcessMeasurement.
import { readFile } from 'node:fs/promises';
import {
  type AcceleratorChoice,
  createProver,
  type ProofStage,
  type VerificationKey,
} from '@pool/prover';
import type { BenchCircuit } from './circuits.ts';
import type { ProcessMeasurement } from './measurement.ts';

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const count = Number(process.argv[3]);
const accelerator = (process.argv[4] ?? 'cpu') as AcceleratorChoice;
async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}
const input = (await readJson(circuit.inputPath)) as Record<string, unknown>;
const verificationKey = (await readJson(circuit.verificationKeyPath)) as VerificationKey;
const { wasmPath, zkeyPath } = circuit;

const prover = createProver({ accelerator });
const jobs: { ms: number; phasesMs: Record<string, number> }[] = [];
while (jobs.length < count) {
  const begunAt = new Map<ProofStage, number>();
  const startedAt = performance.now();
  await prover.prove({
    circuit: { wasmPath, zkeyPath, verificationKey },
    input,
    onProgress: (stage) => {
      if (!begunAt.has(stage)) begunAt.set(stage, performance.now());
    },
  });
  const doneAt = performance.now();
  const at = (stage: ProofStage): number => begunAt.get(stage) ?? Number.NaN;
  jobs.push({
    ms: doneAt - startedAt,
    phasesMs: {
      witness: at('proof') - startedAt,
      proof: at('verify') - at('proof'),
      // They run together, in a separate thread.
      'blinding and verification': doneAt - at('verify'),
    },
  });
}
const measured: ProcessMeasurement = {
  jobs,
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
await prover.close();
process.stdout.write(`${JSON.stringify(measured)}\n`);
