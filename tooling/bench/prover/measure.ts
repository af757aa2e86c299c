// Each prover with one circuit: warm, several jobs of one process; cold, new processes for each job.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { BenchCircuit } from './circuits.ts';

/** A job is: witness from the input, proof, blinding, verification of the proof. */
export interface Job {
  readonly ms: number;
  readonly phasesMs: Readonly<Record<string, number>>;
}

/** The output of a measured program: jobs of one process. */
export interface ProcessMeasurement {
  readonly jobs: readonly Job[];
  readonly peakBytes: number;
}

/** The measurement of one prover with one circuit. */
export interface ProverMeasurement {
  /** Rows of the domain as a power of two. */
  readonly power: number;
  /** Names a circuit that is deployed, with the goal for a warm job on two cores. */
  readonly circuit?: string | undefined;
  /**
   * Milliseconds of each whole job in a process that had made one before, the input and the key in memory. Empty: the prover has
   * no form that stays in memory.
   */
  readonly warmMs: readonly number[];
  /** Parts of the fastest warm job; of the fastest cold one if there is no warm form. */
  readonly phasesMs: Readonly<Record<string, number>>;
  /** Milliseconds of each whole job as for the user of a command: new processes, from their start to their end. */
  readonly coldMs: readonly number[];
  /** Highest resident memory of the warm process; of the cold proof if there is no warm form. */
  readonly peakBytes: number;
}

/** The machine was shared, so the fastest run had the least disturbance. */
export function fastest(values: readonly number[]): number {
  return Math.min(...values);
}

function findFastest(jobs: readonly Job[]): Job {
  return jobs.reduce((a, b) => (b.ms < a.ms ? b : a));
}

/** The built program that runs one circuit. */
const program = resolve(import.meta.dirname, '../../dist/bench/run.js');

/** Highest resident memory of a running process so far, or 0 after it has ended. */
function readPeakBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** One process from its start to its end. */
async function runProcess(command: string, args: readonly string[]) {
  const startedAt = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  let peakBytes = 0;
  const watching = setInterval(() => {
    peakBytes = Math.max(peakBytes, readPeakBytes(child.pid));
  }, 20);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  clearInterval(watching);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with code ${code}`);
  return { ms: performance.now() - startedAt, peakBytes, stdout: Buffer.concat(chunks).toString() };
}

/** Jobs of one new process of the program. */
async function runJobs(args: readonly string[]) {
  const { ms, stdout } = await runProcess(process.execPath, [program, ...args]);
  // Written by that program.
  return { ms, ...(JSON.parse(stdout) as ProcessMeasurement) };
}

/** A prover that runs on Node. */
export async function measureNodeProver(
  name: 'ours' | 'snarkjs',
  circuit: BenchCircuit,
  runs: number,
  accelerator: string,
): Promise<ProverMeasurement> {
  const run = (jobs: number) => runJobs([name, JSON.stringify(circuit), String(jobs), accelerator]);
  const { jobs, peakBytes } = await run(runs + 1);
  const warm = jobs.slice(1);
  const coldMs: number[] = [];
  while (coldMs.length < runs) coldMs.push((await run(1)).ms);
  return {
    power: circuit.power,
    circuit: circuit.name,
    warmMs: warm.map(({ ms }) => ms),
    phasesMs: findFastest(warm).phasesMs,
    coldMs,
    peakBytes,
  };
}

/** Ours in new processes that find the key prepared by an earlier one. */
export async function measurePreparedKey(
  circuit: BenchCircuit,
  runs: number,
  accelerator: string,
): Promise<ProverMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-bench-'));
  try {
    const run = () => runJobs(['ours', JSON.stringify(circuit), '1', accelerator, folder]);
    await run();
    if ((await readdir(folder)).length === 0) throw new Error('No key was prepared.');
    const cold = [];
    while (cold.length < runs) cold.push(await run());
    return {
      power: circuit.power,
      circuit: circuit.name,
      warmMs: [],
      phasesMs: findFastest(cold.flatMap(({ jobs }) => jobs)).phasesMs,
      coldMs: cold.map(({ ms }) => ms),
      peakBytes: Math.max(...cold.map(({ peakBytes }) => peakBytes)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * rapidsnark's commands, which start again for each proof: the witness by circom's program in its own process, then `prover`,
 * then `verifier` beside it.
 */
export async function measureRapidsnark(
  prover: string,
  circuit: BenchCircuit,
  runs: number,
): Promise<ProverMeasurement> {
  const verifier = join(dirname(prover), 'verifier');
  if (!existsSync(verifier))
    throw new Error(`${verifier} is missing; it is built together with prover`);
  const folder = await mkdtemp(join(tmpdir(), 'pool-bench-'));
  try {
    const [witness, proof, signals] = ['witness.wtns', 'proof.json', 'public.json'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const jobs: Job[] = [];
    let peakBytes = 0;
    while (jobs.length < runs) {
      const command = [program, 'witness', JSON.stringify(circuit), witness];
      const made = await runProcess(process.execPath, command);
      const proved = await runProcess(prover, [circuit.zkey, witness, proof, signals]);
      const verified = await runProcess(verifier, [circuit.verificationKeyPath, signals, proof]);
      peakBytes = Math.max(peakBytes, proved.peakBytes);
      jobs.push({
        ms: made.ms + proved.ms + verified.ms,
        phasesMs: {
          'witness, a Node process': made.ms,
          'proof with blinding, key read': proved.ms,
          verification: verified.ms,
        },
      });
    }
    return {
      power: circuit.power,
      circuit: circuit.name,
      warmMs: [],
      phasesMs: findFastest(jobs).phasesMs,
      coldMs: jobs.map(({ ms }) => ms),
      peakBytes,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
