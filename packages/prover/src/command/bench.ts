/**
 * Measures proofs of the user's circuit: warm, in one process that keeps its key, and cold, each in a process of its own from start to
 * exit. Every proof is verified, as always.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProofStage } from '../base/prover.ts';
import { createProver, type ProverOptions } from '../create-prover.ts';
import { openZkey } from '../zkey/open-zkey.ts';

const warmRuns = 5;
const coldRuns = 3;

type Run = { readonly seconds: number; readonly stages: Readonly<Record<string, number>> };

function round(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

/** Calls `work` with an observer of stages, and measures it and its stages. */
async function measure(
  work: (observe: (stage: ProofStage) => void) => Promise<unknown>,
): Promise<Run> {
  const stages: Record<string, number> = {};
  const startedMs = performance.now();
  let current: string | undefined;
  let sinceMs = startedMs;
  const turnTo = (stage: string | undefined) => {
    if (stage === current) {
      return;
    }
    const nowMs = performance.now();
    if (current !== undefined) {
      stages[current] = (stages[current] ?? 0) + nowMs - sinceMs;
    }
    [current, sinceMs] = [stage, nowMs];
  };
  await work(turnTo);
  turnTo(undefined);
  return {
    seconds: round(performance.now() - startedMs),
    stages: Object.fromEntries(Object.entries(stages).map(([stage, ms]) => [stage, round(ms)])),
  };
}

function medianOf(runs: readonly Run[]): Run {
  const sorted = runs.toSorted((left, right) => left.seconds - right.seconds);
  return sorted[Math.floor(runs.length / 2)] ?? { seconds: 0, stages: {} };
}

async function measureCold(files: readonly string[], flags: readonly string[]): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-prover-'));
  const outputs = ['proof.json', 'public.json'].map((name) => join(folder, name));
  const [, program = ''] = process.argv;
  const args = [
    ...process.execArgv,
    program,
    'groth16',
    'fullprove',
    ...files,
    ...outputs,
    ...flags,
  ];
  try {
    return await measure(() => promisify(execFile)(process.execPath, args));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function repeat(count: number, work: () => Promise<Run>): Promise<Run[]> {
  const runs: Run[] = [];
  for (let i = 0; i < count; i++) {
    runs.push(await work());
  }
  return runs;
}

export async function measureCircuit(
  circuit: {
    readonly wasm: string;
    readonly zkey: string;
    readonly inputPath: string;
    readonly input: Readonly<Record<string, unknown>>;
  },
  { keyCacheDir }: Pick<ProverOptions, 'keyCacheDir'>,
) {
  const { wasm, zkey, inputPath, input } = circuit;
  const key = await openZkey(zkey);
  const { domainSize, wires, publicSignals } = key.header;
  await key.close();

  const flags = keyCacheDir === undefined ? [] : ['--key-cache-dir', keyCacheDir];
  let prover = createProver({ keyCacheDir });
  const prove = () =>
    measure((observe) => prover.prove({ circuit: { wasm, zkey }, input, onProgress: observe }));
  try {
    const first = await prove();
    if (keyCacheDir !== undefined) {
      // Closing waits until the key is written, which would slow down the proofs that follow.
      await prover.close();
      prover = createProver({ keyCacheDir });
      await prove();
    }
    const warm = await repeat(warmRuns, prove);
    const cold = await repeat(coldRuns, () => measureCold([inputPath, wasm, zkey], flags));
    const { kind, detail } = prover.accelerator;
    const median = medianOf(warm);
    const stages = Object.entries(median.stages)
      .filter(([stage]) => stage !== 'queued')
      .map(([stage, seconds]) => `${stage} ${seconds} s`);
    return {
      json: {
        circuit: { rows: domainSize, wires, publicSignals },
        accelerator: { kind, detail },
        first,
        warm,
        cold,
      },
      text: [
        `${domainSize} rows, ${wires} wires, ${publicSignals} public signals; ${kind} (${detail})`,
        `first ${first.seconds} s: the key is read`,
        `warm  ${median.seconds} s: median of ${warmRuns}; ${stages.join(', ')}`,
        `cold  ${medianOf(cold).seconds} s: median of ${coldRuns}; a new process on the processor, from its start to its exit`,
      ].join('\n'),
    };
  } finally {
    await prover.close();
  }
}
