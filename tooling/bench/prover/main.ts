// `pnpm bench prover [--from 12] [--to 20] [--runs 3] [--accelerator cpu|webgpu]`: whole jobs (witness, proof, blinding, verification) of
// circuits with 2^from … 2^to rows, ours beside snarkjs in the same run, and beside rapidsnark where RAPIDSNARK names its `prover` and
// RAPIDSNARK_BUILD describes its build. `pnpm bench spends` does the same with the deployed spend circuits. Warm: a process that has made
// a proof before. Cold: new processes, as for the user of a command. Processes run one after the other, so that each has the machine
// to itself. Results go to bench/results as JSON, circuit by circuit; bench/RESULTS.md and the plot are written from there.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../../src/processes.ts';
import { createStamp } from '../results.ts';
import { isProofsName, proofsNames, saveProverResults } from '../results-store.ts';
import { type BenchCase, fundCases, spendCases } from './circuits.ts';
import {
  fastest,
  measureNodeProver,
  measurePreparedKey,
  measureRapidsnark,
  type ProverMeasurement,
} from './measure.ts';

const tooling = resolve(import.meta.dirname, '../..');

/** Builds the packages as they are published, and the measured program on top of them. */
async function buildProgram(): Promise<void> {
  const commands = [
    ['turbo', ['run', 'build', '--filter=@pool/prover...'], resolve(tooling, '..')],
    ['tsup', ['--config', 'bench.config.ts'], tooling],
  ] as const;
  for (const [command, args, cwd] of commands) {
    const env = { DO_NOT_TRACK: '1' };
    const { status, combined } = await run(command, args, { cwd, env, output: 'collect' });
    if (status !== 0) throw new Error(`${command} failed:\n${combined}`);
  }
}

/** The exact measured version: a figure without it cannot be reproduced. */
async function describeVersions(rapidsnark: string | undefined): Promise<Record<string, string>> {
  const snarkjs = dirname(createRequire(import.meta.url).resolve('snarkjs'));
  const { version } = JSON.parse(readFileSync(join(snarkjs, '../package.json'), 'utf8')) as {
    version: string;
  };
  const describe = ['describe', '--always', '--dirty', '--abbrev=12'];
  const { stdout } = await run('git', describe, { cwd: tooling, output: 'collect' });
  const build = process.env['RAPIDSNARK_BUILD'];
  if (rapidsnark !== undefined && build === undefined) {
    throw new Error(
      'RAPIDSNARK is set and RAPIDSNARK_BUILD is not: set it to the commit of the program and the flags of its build',
    );
  }
  return {
    ours: `@pool/prover at ${stdout.trim()}, built with tsup`,
    snarkjs: `${version} from npm`,
    ...(build === undefined ? {} : { rapidsnark: build }),
  };
}

/** Runs the benchmark with the options of the command line. */
export async function runProverBench(
  what: 'prover' | 'spends',
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string', default: '12' },
      to: { type: 'string', default: '20' },
      runs: { type: 'string', default: '3' },
      accelerator: { type: 'string', default: 'cpu' },
    },
  });
  const { accelerator } = values;
  const file = `${what}-${accelerator}`;
  if (!isProofsName(file)) {
    throw new TypeError(`bench/RESULTS.md has no table ${file}; choose ${proofsNames.join(', ')}`);
  }
  const rapidsnark = process.env['RAPIDSNARK'];
  const versions = await describeVersions(rapidsnark);
  await buildProgram();

  const cases: readonly BenchCase[] = what === 'spends' ? spendCases : fundCases;
  for (const { power, prepare } of cases) {
    if (power < Number(values.from) || power > Number(values.to)) continue;
    process.stdout.write(`2^${power} rows: preparing\n`);
    const { ours, standard } = await prepare();
    // One run is enough if it takes minutes.
    const runs = power >= 19 ? 1 : Number(values.runs);
    const [loadBefore = 0] = loadavg();
    const measured: [string, () => Promise<ProverMeasurement>][] = [
      [`ours (${accelerator})`, () => measureNodeProver('ours', ours, runs, accelerator)],
      [`ours (${accelerator}), key prepared`, () => measurePreparedKey(ours, runs, accelerator)],
      ['snarkjs', () => measureNodeProver('snarkjs', standard, runs, accelerator)],
    ];
    if (rapidsnark !== undefined) {
      measured.push(['rapidsnark', () => measureRapidsnark(rapidsnark, standard, runs)]);
    }
    const provers: Record<string, [ProverMeasurement]> = {};
    for (const [name, measure] of measured) {
      const found = await measure();
      provers[name] = [found];
      const warm = found.warmMs.length > 0 ? `warm ${fastest(found.warmMs).toFixed(0)} ms, ` : '';
      const peak = (found.peakBytes / 2 ** 20).toFixed(0);
      process.stdout.write(
        `    ${name}: ${warm}cold ${fastest(found.coldMs).toFixed(0)} ms, peak ${peak} MiB\n`,
      );
    }
    const [loadAfter = 0] = loadavg();
    const loadAverage = [loadBefore, loadAfter] as const;
    saveProverResults(file, { ...createStamp(), versions, loadAverage, provers });
  }
}
