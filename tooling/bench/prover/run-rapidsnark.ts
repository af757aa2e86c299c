// One circuit through rapidsnark, a native prover, where the machine has it (RAPIDSNARK=path of its `prover`). It makes one proof a
// process and takes the witness from a file, so its time includes starting and reading the key, as its users pay it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchCircuit } from './circuits.ts';
import type { ProverMeasurement } from './measurement.ts';

/** Highest resident memory of a running process so far, or 0 once it is gone. */
function readPeakBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function runOnce(program: string, args: readonly string[]) {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  let peakBytes = 0;
  const watching = setInterval(() => {
    peakBytes = Math.max(peakBytes, readPeakBytes(child.pid));
  }, 20);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  clearInterval(watching);
  if (code !== 0) throw new Error(`rapidsnark ended with code ${code}`);
  return { ms: performance.now() - startedAt, peakBytes };
}

/** @param computeWitness writes the witness file (`.wtns`) */
export async function measureRapidsnark(
  program: string,
  circuit: BenchCircuit,
  runs: number,
  computeWitness: (path: string) => Promise<void>,
): Promise<ProverMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-bench-'));
  try {
    const witness = join(folder, 'witness.wtns');
    await computeWitness(witness);
    const proofMs: number[] = [];
    let peakBytes = 0;
    for (let run = 0; run <= runs; run++) {
      const files = [circuit.zkeyPath, witness, join(folder, 'proof'), join(folder, 'public')];
      const result = await runOnce(program, files);
      proofMs.push(result.ms);
      peakBytes = Math.max(peakBytes, result.peakBytes);
    }
    return {
      power: circuit.power,
      witnessMs: [],
      proofMs: proofMs.slice(1),
      coldMs: proofMs[0] ?? Number.NaN,
      phasesMs: {},
      peakBytes,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
