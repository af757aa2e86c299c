// Results are stored as JSON, one file per benchmark, and the page and the plot are written from all of them. So a benchmark that was
// run on another machine stays on the page with that machine's name and day.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AgentResults, renderAgentResults } from './agent/render.ts';
import { type PlatformResults, renderPlatformResults } from './platform/render.ts';
import { type HostileResults, renderHostileResults } from './platform/render-hostile.ts';
import {
  mergeProverResults,
  type ProverResults,
  renderProverPlot,
  renderProverResults,
} from './prover/render.ts';
import { renderSpendResults, type SpendResults } from './prover/render-spends.ts';
import { type RateResults, renderRates } from './results.ts';

const folder = resolve(import.meta.dirname, '../../bench');

function read(name: string): unknown {
  const path = join(folder, 'results', `${name}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Writes bench/RESULTS.md and bench/prover.svg from the files of bench/results. */
function writePages(): void {
  // Written by the same programs that read them.
  const cpu = read('prover-cpu') as ProverResults | undefined;
  const gpu = read('prover-webgpu') as ProverResults | undefined;
  const spends = read('spends-cpu') as SpendResults | undefined;
  const rates = read('rates') as RateResults | undefined;
  const agent = read('agent') as AgentResults | undefined;
  const platform = read('platform') as PlatformResults | undefined;
  const hostile = read('platform-hostile') as HostileResults | undefined;
  const sections = [
    ...(cpu === undefined ? [] : [renderProverResults('Proofs on the processor', cpu)]),
    ...(spends === undefined ? [] : [renderSpendResults(spends)]),
    ...(gpu === undefined ? [] : [renderProverResults('Proofs on a GPU', gpu)]),
    ...(agent === undefined ? [] : [renderAgentResults(agent)]),
    ...(platform === undefined ? [] : [renderPlatformResults(platform)]),
    ...(hostile === undefined ? [] : [renderHostileResults(hostile)]),
    ...(rates === undefined ? [] : [renderRates(rates)]),
  ];
  writeFileSync(
    join(folder, 'RESULTS.md'),
    `# Benchmarks\n\nWritten by \`pnpm bench\`. Figures are of the machine and the day named with them.\n\n${sections.join('\n')}`,
  );
  if (cpu !== undefined) writeFileSync(join(folder, 'prover.svg'), renderProverPlot(cpu));
}

function write(
  name: string,
  results:
    | ProverResults
    | SpendResults
    | RateResults
    | AgentResults
    | PlatformResults
    | HostileResults,
): void {
  mkdirSync(join(folder, 'results'), { recursive: true });
  writeFileSync(join(folder, 'results', `${name}.json`), `${JSON.stringify(results, null, 1)}\n`);
  writePages();
}

/** Stores the rates and writes the pages again. */
export function saveRates(results: RateResults): void {
  write('rates', results);
}

/** Stores the measurements of the spend circuits and writes the pages again. */
export function saveSpendResults(results: SpendResults): void {
  write('spends-cpu', results);
}

/** Stores the measurements next to a hostile tenant and writes the pages again. */
export function saveHostileResults(results: HostileResults): void {
  write('platform-hostile', results);
}

/** Stores the measurements of the agent and writes the pages again. */
export function saveAgentResults(results: AgentResults): void {
  write('agent', results);
}

/** Stores the measurements of the platform and writes the pages again. */
export function savePlatformResults(results: PlatformResults): void {
  write('platform', results);
}

/**
 * Stores the measurements of some sizes and writes the pages again. Sizes measured before on the same machine and day stay; results of
 * another machine or day are replaced.
 */
export function saveProverResults(accelerator: string, results: ProverResults): void {
  const name = `prover-${accelerator}`;
  // Written by this function.
  const before = read(name) as ProverResults | undefined;
  const isSame = before?.machine === results.machine && before.date === results.date;
  write(name, isSame ? mergeProverResults(before, results) : results);
}
