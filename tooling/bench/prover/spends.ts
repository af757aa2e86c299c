// `pnpm bench spends [--runs 3] [--no-snarkjs]`: whole jobs (witness, proof, blinding, verification) of the deployed spend circuits with the
// spends of /vectors, ours beside snarkjs in the same run, warm and cold as in main.ts. Ours reads the compact key, as the agent does,
// and snarkjs the standard form of the same key. The keys are made or converted before anything is measured.
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createArtifactStore } from '@pool/circuits';
import type { SpendCircuit } from '@pool/core';
import {
  readSpendVector,
  readWalletY,
  spendVectors,
} from '../../../packages/circuits/test/spend-vector.ts';
import { describeMachine } from '../machine.ts';
import { saveSpendResults } from '../results-store.ts';
import type { BenchCircuit } from './circuits.ts';
import { buildPrograms, describeVersions, programAt } from './main.ts';
import { measureNodeProver } from './measure.ts';
import { fastest, type ProverMeasurement } from './measurement.ts';
import type { SpendResults } from './render-spends.ts';

const cache = resolve(import.meta.dirname, '../../../.cache/bench');

/** The fullest spend of /vectors for each circuit, and the goal for a warm job on two cores. */
const spends = [
  { circuit: 'spend-2x4', power: 16, vector: 'transfer to two', goalMs: 2000 },
  { circuit: 'spend-16x8', power: 18, vector: 'transfer to seven', goalMs: 7000 },
] as const;

/** The files of a circuit with one form of its key, and the input from the vectors. */
async function prepare(
  { circuit, power, vector: name }: (typeof spends)[number],
  keyForm: 'compact' | 'standard',
): Promise<BenchCircuit> {
  const store = createArtifactStore({ keyForm });
  const artifacts = await store.ensureArtifacts(circuit satisfies SpendCircuit);
  const vector = spendVectors.find((candidate) => candidate.name === name);
  if (vector === undefined) throw new Error(`vectors/spend.json has no spend "${name}"`);
  const folder = join(cache, circuit);
  await mkdir(folder, { recursive: true });
  const [inputPath, verificationKeyPath] = ['input.json', 'verification-key.json'].map((file) =>
    join(folder, file),
  ) as [string, string];
  const toText = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' ? value.toString() : value;
  await writeFile(inputPath, JSON.stringify(readSpendVector(vector, readWalletY(vector)), toText));
  await writeFile(verificationKeyPath, JSON.stringify(artifacts.verificationKey));
  const { wasmPath, zkeyPath, size } = artifacts;
  return { power, size, wasmPath, zkeyPath, verificationKeyPath, inputPath };
}

function show(name: string, { warmMs, coldMs }: ProverMeasurement): void {
  const text = `warm ${fastest(warmMs).toFixed(0)} ms, cold ${fastest(coldMs).toFixed(0)} ms`;
  process.stdout.write(`    ${name}: ${text}\n`);
}

/** Runs the benchmark with the options of the command line. */
export async function runSpendBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '3' },
      'no-snarkjs': { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs);
  const versions = await describeVersions(undefined);
  await buildPrograms();
  const [loadBefore = 0] = loadavg();
  const circuits: SpendResults['circuits'][number][] = [];
  for (const spend of spends) {
    process.stdout.write(`${spend.circuit}: preparing\n`);
    const compact = await prepare(spend, 'compact');
    const standard = await prepare(spend, 'standard');
    const ours = await measureNodeProver(programAt('run-ours'), compact, runs, 'cpu');
    show('ours', ours);
    const provers: Record<string, ProverMeasurement> = { ours };
    if (!values['no-snarkjs']) {
      const snarkjs = await measureNodeProver(programAt('run-snarkjs'), standard, runs);
      show('snarkjs', snarkjs);
      provers['snarkjs'] = snarkjs;
    }
    circuits.push({ name: spend.circuit, goalMs: spend.goalMs, provers });
  }
  const [loadAfter = 0] = loadavg();
  saveSpendResults({
    machine: describeMachine(),
    versions,
    date: new Date().toISOString().slice(0, 10),
    loadAverage: [loadBefore, loadAfter],
    circuits,
  });
}
