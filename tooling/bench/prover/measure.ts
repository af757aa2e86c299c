// Each prover with one circuit: warm, several jobs of one process; cold, new processes for each job.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BenchCircuit } from './circuits.ts';
import type { ProcessMeasurement, ProverMeasurement } from './measurement.ts';

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

/** The program of a prover that runs on Node: `program <circuit> <jobs> …`. */
export async function measureNodeProver(
  program: string,
  circuit: BenchCircuit,
  runs: number,
  ...rest: readonly string[]
): Promise<ProverMeasurement> {
  const run = (jobs: number) =>
    runProcess(process.execPath, [program, JSON.stringify(circuit), String(jobs), ...rest]);
  const { stdout } = await run(runs + 1);
  // Written by the programs beside this file.
  const { jobs, peakBytes } = JSON.parse(
    stdout.trim().split('\n').at(-1) ?? '',
  ) as ProcessMeasurement;
  const warm = jobs.slice(1);
  const best = warm.reduce((a, b) => (b.ms < a.ms ? b : a));
  const coldMs: number[] = [];
  while (coldMs.length < runs) coldMs.push((await run(1)).ms);
  return {
    power: circuit.power,
    warmMs: warm.map(({ ms }) => ms),
    phasesMs: best.phasesMs,
    coldMs,
    peakBytes,
  };
}

/**
 * rapidsnark's commands, which start again for each proof: the witness by circom's program in its own process, then `prover`,
 * then `verifier` beside it.
 */
export async function measureRapidsnark(
  prover: string,
  witnessProgram: string,
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
    const jobs: { ms: number; phasesMs: Record<string, number> }[] = [];
    let peakBytes = 0;
    while (jobs.length < runs) {
      const made = await runProcess(process.execPath, [
        witnessProgram,
        JSON.stringify(circuit),
        witness,
      ]);
      const proved = await runProcess(prover, [circuit.zkeyPath, witness, proof, signals]);
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
    const best = jobs.reduce((a, b) => (b.ms < a.ms ? b : a));
    return {
      power: circuit.power,
      warmMs: [],
      phasesMs: best.phasesMs,
      coldMs: jobs.map(({ ms }) => ms),
      peakBytes,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The version in the package.json of an installed package. */
export async function readVersion(packageFile: string): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
  return version;
}
