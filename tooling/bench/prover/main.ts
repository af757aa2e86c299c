// `pnpm bench prover [--from 12] [--to 20] [--runs 3] [--accelerator cpu|webgpu] [--no-phases]`: whole proofs of circuits with
// 2^from … 2^to rows, ours beside snarkjs in the same run, and beside rapidsnark where RAPIDSNARK names its program; then the parts of
// a proof alone. Each prover runs in a process of its own, one after the other, so that each has the machine and a memory peak to
// itself. Results go to bench/results as JSON, size by size; bench/RESULTS.md and the plot are written from there.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { wtns } from 'snarkjs';
import { run } from '../../src/processes.ts';
import { describeMachine } from '../machine.ts';
import { saveProverResults } from '../results-store.ts';
import { allPowers, type BenchCircuit, prepareCircuit } from './circuits.ts';
import { fastest, type PhaseMeasurement, type ProverMeasurement } from './measurement.ts';
import { measureRapidsnark } from './run-rapidsnark.ts';

const tooling = resolve(import.meta.dirname, '../..');

/** Builds the packages as they are published, and the measured programs on top of them. */
async function buildPrograms(): Promise<void> {
  const commands = [
    ['turbo', ['run', 'build', '--filter=@pool/prover...'], resolve(tooling, '..')],
    ['tsup', ['--config', 'bench.config.ts'], tooling],
  ] as const;
  for (const [command, args, cwd] of commands) {
    const { status, combined } = await run(command, args, {
      cwd,
      env: { DO_NOT_TRACK: '1' },
      output: 'collect',
    });
    if (status !== 0) throw new Error(`${command} failed:\n${combined}`);
  }
}

async function runProcess(
  program: string,
  circuit: BenchCircuit,
  runs: number,
  ...rest: readonly string[]
): Promise<unknown> {
  const file = join(tooling, 'dist/bench', `${program}.js`);
  const args = [file, JSON.stringify(circuit), String(runs), ...rest];
  const { status, stdout, combined } = await run(process.execPath, args, { output: 'collect' });
  if (status !== 0) throw new Error(`${program} ended with code ${status}:\n${combined}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

function say(text: string): void {
  process.stdout.write(text);
}

function show(name: string, { witnessMs, proofMs, coldMs, peakBytes }: ProverMeasurement): void {
  const witness = witnessMs.length > 0 ? `witness ${fastest(witnessMs).toFixed(0)} ms, ` : '';
  say(
    `    ${name}: ${witness}proof ${fastest(proofMs).toFixed(0)} ms (first ${coldMs.toFixed(0)} ms), ` +
      `peak ${(peakBytes / 2 ** 20).toFixed(0)} MiB\n`,
  );
}

/** Runs the benchmark as the command line asks. */
export async function runProverBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string', default: '12' },
      to: { type: 'string', default: '20' },
      runs: { type: 'string', default: '3' },
      accelerator: { type: 'string', default: 'cpu' },
      'no-phases': { type: 'boolean', default: false },
    },
  });
  const [from, to, runs] = [Number(values.from), Number(values.to), Number(values.runs)];
  const rapidsnark = process.env['RAPIDSNARK'];
  await buildPrograms();

  for (const power of allPowers.filter((candidate) => candidate >= from && candidate <= to)) {
    say(`2^${power} rows: preparing\n`);
    const circuit = await prepareCircuit(power);
    // One run is enough where one takes minutes.
    const repeated = power >= 19 ? 1 : runs;
    const provers: Record<string, ProverMeasurement[]> = {};
    const keep = (name: string, measured: unknown): void => {
      // Written by the programs beside this file.
      const measurement = measured as ProverMeasurement;
      provers[name] = [measurement];
      show(name, measurement);
    };
    keep(
      `ours (${values.accelerator})`,
      await runProcess('run-ours', circuit, repeated, values.accelerator),
    );
    keep('snarkjs', await runProcess('run-snarkjs', circuit, repeated));
    if (rapidsnark !== undefined) {
      const computeWitness = async (path: string): Promise<void> => {
        const input: unknown = JSON.parse(await readFile(circuit.inputPath, 'utf8'));
        await wtns.calculate(input, circuit.wasmPath, path);
      };
      keep('rapidsnark', await measureRapidsnark(rapidsnark, circuit, repeated, computeWitness));
    }
    const phases = values['no-phases']
      ? []
      : ((await runProcess('run-phases', circuit, repeated)) as PhaseMeasurement[]);
    for (const { phase, oursMs, snarkjsMs } of phases) {
      say(`    ${phase}: ${oursMs.toFixed(0)} ms, snarkjs ${snarkjsMs.toFixed(0)} ms\n`);
    }
    saveProverResults(values.accelerator, {
      machine: describeMachine(),
      date: new Date().toISOString().slice(0, 10),
      provers,
      phases,
    });
  }
}
