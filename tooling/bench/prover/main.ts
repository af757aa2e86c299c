// `pnpm bench prover [--from 12] [--to 20] [--runs 3] [--accelerator cpu|webgpu]`: whole proofs of circuits with 2^from … 2^to rows,
// ours beside snarkjs in the same run, and beside rapidsnark where RAPIDSNARK names its program. Each prover runs in a process of
// its own, one after the other, so that each has the machine and a memory peak to itself. Results go to bench/results as JSON;
// bench/RESULTS.md and the plot are written from there.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wtns } from 'snarkjs';
import { describeMachine } from '../machine.ts';
import { saveResults } from '../results-store.ts';
import { allPowers, type BenchCircuit, prepareCircuit } from './circuits.ts';
import { fastest, type ProverMeasurement } from './measurement.ts';
import type { ProverResults } from './render.ts';
import { measureRapidsnark } from './run-rapidsnark.ts';

async function runProcess(
  script: string,
  circuit: BenchCircuit,
  runs: number,
  ...rest: readonly string[]
): Promise<ProverMeasurement> {
  const file = join(import.meta.dirname, script);
  const args = ['--conditions=@pool/source', file, JSON.stringify(circuit), String(runs), ...rest];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${script} ended with code ${code}`);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as ProverMeasurement;
}

const say = (text: string): void => {
  process.stdout.write(text);
};

const show = (name: string, { witnessMs, proofMs, coldMs, peakBytes }: ProverMeasurement): void => {
  const witness = witnessMs.length > 0 ? `witness ${fastest(witnessMs).toFixed(0)} ms, ` : '';
  say(
    `    ${name}: ${witness}proof ${fastest(proofMs).toFixed(0)} ms (first ${coldMs.toFixed(0)} ms), ` +
      `peak ${(peakBytes / 2 ** 20).toFixed(0)} MiB\n`,
  );
};

/** Runs the benchmark as the command line asks. */
export async function runProverBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string', default: '12' },
      to: { type: 'string', default: '20' },
      runs: { type: 'string', default: '3' },
      accelerator: { type: 'string', default: 'cpu' },
    },
  });
  const [from, to, runs] = [Number(values.from), Number(values.to), Number(values.runs)];
  const rapidsnark = process.env['RAPIDSNARK'];
  const provers: Record<string, ProverMeasurement[]> = {};
  const keep = (name: string, measurement: ProverMeasurement): void => {
    provers[name] = [...(provers[name] ?? []), measurement];
    show(name, measurement);
  };

  for (const power of allPowers.filter((candidate) => candidate >= from && candidate <= to)) {
    say(`2^${power} rows: preparing\n`);
    const circuit = await prepareCircuit(power);
    // One run is enough where one takes minutes.
    const repeated = power >= 19 ? 1 : runs;
    keep(
      `ours (${values.accelerator})`,
      await runProcess('run-ours.ts', circuit, repeated, values.accelerator),
    );
    keep('snarkjs', await runProcess('run-snarkjs.ts', circuit, repeated));
    if (rapidsnark !== undefined) {
      const computeWitness = async (path: string): Promise<void> => {
        const input: unknown = JSON.parse(await readFile(circuit.inputPath, 'utf8'));
        await wtns.calculate(input, circuit.wasmPath, path);
      };
      keep('rapidsnark', await measureRapidsnark(rapidsnark, circuit, repeated, computeWitness));
    }
  }
  const results: ProverResults = {
    machine: describeMachine(),
    date: new Date().toISOString().slice(0, 10),
    provers,
  };
  saveResults(`prover-${values.accelerator}`, results);
}
