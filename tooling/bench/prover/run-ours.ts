// One circuit through @pool/prover, in this process: `run-ours.ts <circuit as JSON> <runs> <accelerator>`; prints a
// ProverMeasurement.
import { readFile } from 'node:fs/promises';
import {
  type AcceleratorChoice,
  createProver,
  type ProofStage,
  type VerificationKey,
} from '@pool/prover';
import type { BenchCircuit } from './circuits.ts';
import type { ProverMeasurement } from './measurement.ts';

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const runs = Number(process.argv[3]);
const accelerator = (process.argv[4] ?? 'cpu') as AcceleratorChoice;
async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}
const input = (await readJson(circuit.inputPath)) as Record<string, unknown>;
const verificationKey = (await readJson(circuit.verificationKeyPath)) as VerificationKey;
const { wasmPath, zkeyPath } = circuit;

const prover = createProver({ accelerator });
const timings: { readonly witness: number; readonly proof: number; readonly verify: number }[] = [];
for (let run = 0; run <= runs; run++) {
  const begunAt = new Map<ProofStage, number>();
  await prover.prove({
    circuit: { wasmPath, zkeyPath, verificationKey },
    input,
    onProgress: (stage) => {
      if (!begunAt.has(stage)) begunAt.set(stage, performance.now());
    },
  });
  const doneAt = performance.now();
  const at = (stage: ProofStage): number => begunAt.get(stage) ?? Number.NaN;
  timings.push({
    witness: at('proof') - at('witness'),
    proof: at('verify') - at('proof'),
    // Blinding and verification run together in a thread of their own.
    verify: doneAt - at('verify'),
  });
}
const [first, ...rest] = timings;
const best = rest.reduce((a, b) => (b.proof < a.proof ? b : a));
const measurement: ProverMeasurement = {
  power: circuit.power,
  witnessMs: rest.map(({ witness }) => witness),
  proofMs: rest.map(({ proof }) => proof),
  coldMs: first?.proof ?? Number.NaN,
  phasesMs: { witness: best.witness, sums: best.proof, 'blinding and verification': best.verify },
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
await prover.close();
process.stdout.write(`${JSON.stringify(measurement)}\n`);
