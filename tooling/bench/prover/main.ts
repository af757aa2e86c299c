// `pnpm bench prover [--from 12] [--to 20] [--runs 3] [--accelerator cpu|webgpu] [--no-phases]`: whole jobs (witness, proof,
// blinding, verification) of circuits with 2^from … 2^to rows, ours beside snarkjs in the same run, and beside rapidsnark where
// RAPIDSNARK names its `prover` and RAPIDSNARK_BUILD describes its build; then the parts of a proof alone. Warm: a process that has made
// a proof before. Cold: new processes, as for the user of a command. Processes run one after the other, so that each has the machine
// to itself. Results go to bench/results as JSON, size by size; bench/RESULTS.md and the plot are written from there.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../../src/processes.ts';
import { describeMachine } from '../machine.ts';
import { saveProverResults } from '../results-store.ts';
import { allPowers, type BenchCircuit, prepareCircuit } from './circuits.ts';
import { measureNodeProver, measureRapidsnark, readVersion } from './measure.ts';
import { fastest, type PhaseMeasurement, type ProverMeasurement } from './measurement.ts';

const tooling = resolve(import.meta.dirname, '../..');

/** Path of a measured program that {@link buildPrograms} has built. */
export function programAt(name: string): string {
  return join(tooling, 'dist/bench', `${name}.js`);
}

/** Builds the packages as they are published, and the measured programs on top of them. */
export async function buildPrograms(): Promise<void> {
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

async function runPhases(circuit: BenchCircuit, runs: number): Promise<PhaseMeasurement[]> {
  const args = [programAt('run-phases'), JSON.stringify(circuit), String(runs)];
  const { status, stdout, combined } = await run(process.execPath, args, { output: 'collect' });
  if (status !== 0) throw new Error(`run-phases ended with code ${status}:\n${combined}`);
  // Written by that program.
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PhaseMeasurement[];
}

/** The exact measured version: a figure without it cannot be reproduced. */
export async function describeVersions(
  rapidsnark: string | undefined,
): Promise<Record<string, string>> {
  const snarkjs = dirname(createRequire(import.meta.url).resolve('snarkjs'));
  const { stdout } = await run('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
    cwd: tooling,
    output: 'collect',
  });
  const build = process.env['RAPIDSNARK_BUILD'];
  if (rapidsnark !== undefined && build === undefined) {
    throw new Error(
      'RAPIDSNARK is set and RAPIDSNARK_BUILD is not: set it to the commit of the program and the flags of its build',
    );
  }
  return {
    ours: `@pool/prover at ${stdout.trim()}, built with tsup`,
    snarkjs: `${await readVersion(join(snarkjs, '../package.json'))} from npm`,
    ...(build === undefined ? {} : { rapidsnark: build }),
  };
}

function say(text: string): void {
  process.stdout.write(text);
}

function show(name: string, { warmMs, coldMs, peakBytes }: ProverMeasurement): void {
  const warm = warmMs.length > 0 ? `warm ${fastest(warmMs).toFixed(0)} ms, ` : '';
  const peak = (peakBytes / 2 ** 20).toFixed(0);
  say(`    ${name}: ${warm}cold ${fastest(coldMs).toFixed(0)} ms, peak ${peak} MiB\n`);
}

/** Runs the benchmark with the options of the command line. */
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
  const versions = await describeVersions(rapidsnark);
  await buildPrograms();

  for (const power of allPowers.filter((candidate) => candidate >= from && candidate <= to)) {
    say(`2^${power} rows: preparing\n`);
    const circuit = await prepareCircuit(power);
    // One run is enough if it takes minutes.
    const repeated = power >= 19 ? 1 : runs;
    const provers: Record<string, ProverMeasurement[]> = {};
    const keep = (name: string, measurement: ProverMeasurement): void => {
      provers[name] = [measurement];
      show(name, measurement);
    };
    keep(
      `ours (${values.accelerator})`,
      await measureNodeProver(programAt('run-ours'), circuit, repeated, values.accelerator),
    );
    keep('snarkjs', await measureNodeProver(programAt('run-snarkjs'), circuit, repeated));
    if (rapidsnark !== undefined) {
      const witness = programAt('run-witness');
      keep('rapidsnark', await measureRapidsnark(rapidsnark, witness, circuit, repeated));
    }
    const phases = values['no-phases'] ? [] : await runPhases(circuit, repeated);
    for (const { phase, oursMs, snarkjsMs } of phases) {
      say(`    ${phase}: ${oursMs.toFixed(0)} ms, snarkjs ${snarkjsMs.toFixed(0)} ms\n`);
    }
    saveProverResults(values.accelerator, {
      machine: describeMachine(),
      versions,
      date: new Date().toISOString().slice(0, 10),
      provers,
      phases,
    });
  }
}
