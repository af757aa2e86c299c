// One circuit through snarkjs, in this process: `run-snarkjs.ts <circuit as JSON> <runs>`; prints a ProverMeasurement.
import { readFile } from 'node:fs/promises';
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import type { BenchCircuit } from './circuits.ts';
import type { ProverMeasurement } from './measurement.ts';

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const runs = Number(process.argv[3]);
const input: unknown = JSON.parse(await readFile(circuit.inputPath, 'utf8'));
const witnessMs: number[] = [];
const proofMs: number[] = [];

for (let run = 0; run <= runs; run++) {
  const witness: MemoryFile = { type: 'mem' };
  const startedAt = performance.now();
  await wtns.calculate(input, circuit.wasmPath, witness);
  const provingAt = performance.now();
  await groth16.prove(circuit.zkeyPath, witness);
  const doneAt = performance.now();
  witnessMs.push(provingAt - startedAt);
  proofMs.push(doneAt - provingAt);
}

const measurement: ProverMeasurement = {
  power: circuit.power,
  witnessMs: witnessMs.slice(1),
  proofMs: proofMs.slice(1),
  coldMs: proofMs[0] ?? Number.NaN,
  phasesMs: {},
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(`${JSON.stringify(measurement)}\n`, () => process.exit(0));
