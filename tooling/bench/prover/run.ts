// One circuit through one prover, in this process: `run.js <prover> <circuit as JSON> <jobs> <accelerator> [<key cache>]` prints a ProcessMeasurement;
// `run.js witness <circuit as JSON> <path>` writes the witness by circom's program, which rapidsnark's command takes from a file.
// A prover is loaded only if it is measured.
import { readFile } from 'node:fs/promises';
import type { AcceleratorChoice, ProofStage, VerificationKey } from '@pool/prover';
import type { MemoryFile } from 'snarkjs';
import type { BenchCircuit } from './circuits.ts';
import type { Job, ProcessMeasurement } from './measure.ts';

const [prover = '', text = '', third = '', accelerator = 'cpu', keyCacheDir] =
  process.argv.slice(2);
const circuit = JSON.parse(text) as BenchCircuit;
const { wasm, zkey } = circuit;
async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}
const input = (await readJson(circuit.inputPath)) as Record<string, unknown>;
const verificationKey = (await readJson(circuit.verificationKeyPath)) as VerificationKey;

/** The times between the stages of one job. */
function divide(times: readonly number[], names: readonly string[]): Job {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const phases = names.map((name, at) => [name, (times[at + 1] ?? 0) - (times[at] ?? 0)] as const);
  return { ms: last - first, phasesMs: Object.fromEntries(phases) };
}

const ends: (() => Promise<void>)[] = [];

async function openOurs(): Promise<() => Promise<Job>> {
  const { createProver } = await import('@pool/prover');
  const ours = createProver({ accelerator: accelerator as AcceleratorChoice, keyCacheDir });
  // Closing waits until the prepared key is written.
  if (keyCacheDir !== undefined) ends.push(() => ours.close());
  return async () => {
    const begunAt = new Map<ProofStage, number>();
    const startedAt = performance.now();
    await ours.prove({
      circuit: { wasm, zkey, verificationKey },
      input,
      onProgress: (stage) => {
        if (!begunAt.has(stage)) begunAt.set(stage, performance.now());
      },
    });
    const at = (stage: ProofStage): number => begunAt.get(stage) ?? Number.NaN;
    // The last two run together, in a separate thread.
    const names = ['witness', 'proof', 'blinding and verification'];
    return divide([startedAt, at('proof'), at('verify'), performance.now()], names);
  };
}

/** With more than one job the key is read into memory once; but snarkjs decodes it for each proof. */
async function openSnarkjs(jobs: number): Promise<() => Promise<Job>> {
  const { groth16, wtns } = await import('snarkjs');
  const key: string | MemoryFile = jobs > 1 ? { type: 'mem', data: await readFile(zkey) } : zkey;
  return async () => {
    const witness: MemoryFile = { type: 'mem' };
    const times = [performance.now()];
    await wtns.calculate(input, wasm, witness);
    times.push(performance.now());
    const { proof, publicSignals } = await groth16.prove(key, witness);
    times.push(performance.now());
    if (!(await groth16.verify(verificationKey, publicSignals, proof))) {
      throw new Error('snarkjs refuses its own proof');
    }
    return divide(
      [...times, performance.now()],
      ['witness', 'proof with blinding', 'verification'],
    );
  };
}

if (prover === 'witness') {
  await (await import('snarkjs')).wtns.calculate(input, wasm, third);
} else {
  const count = Number(third);
  const work = await (prover === 'snarkjs' ? openSnarkjs(count) : openOurs());
  const jobs: Job[] = [];
  while (jobs.length < count) jobs.push(await work());
  for (const end of ends) await end();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const measured: ProcessMeasurement = { jobs, peakBytes };
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(measured)}\n`, resolve));
}
process.exit(0);
