// One circuit through snarkjs, in this process: `run-snarkjs.ts <circuit as JSON> <jobs>`; prints a ProcessMeasurement. With more
// than one job the key is read into memory once; but snarkjs decodes it for each proof.
import { readFile } from 'node:fs/promises';
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import type { BenchCircuit } from './circuits.ts';
import type { ProcessMeasurement } from './measurement.ts';

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const count = Number(process.argv[3]);
const input: unknown = JSON.parse(await readFile(circuit.inputPath, 'utf8'));
const verificationKey: unknown = JSON.parse(await readFile(circuit.verificationKeyPath, 'utf8'));
const key: string | MemoryFile =
  count > 1 ? { type: 'mem', data: await readFile(circuit.zkeyPath) } : circuit.zkeyPath;
const jobs: { ms: number; phasesMs: Record<string, number> }[] = [];

while (jobs.length < count) {
  const witness: MemoryFile = { type: 'mem' };
  const startedAt = performance.now();
  await wtns.calculate(input, circuit.wasmPath, witness);
  const provingAt = performance.now();
  const { proof, publicSignals } = await groth16.prove(key, witness);
  const verifyingAt = performance.now();
  if (!(await groth16.verify(verificationKey, publicSignals, proof))) {
    throw new Error('snarkjs refuses its own proof');
  }
  const doneAt = performance.now();
  jobs.push({
    ms: doneAt - startedAt,
    phasesMs: {
      witness: provingAt - startedAt,
      'proof with blinding': verifyingAt - provingAt,
      verification: doneAt - verifyingAt,
    },
  });
}

const measured: ProcessMeasurement = {
  jobs,
  peakBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));
