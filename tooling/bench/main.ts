// `pnpm bench`: the rates of every `*.bench.ts` of this folder, then an agent and a platform under load, then whole proofs, of
// batches and of spends. `pnpm bench rates`, `pnpm bench agent`, `pnpm bench platform`, `pnpm bench prover` and `pnpm bench spends`
// (see their files for their options) are one of the five; `pnpm bench <text>` shows the rates of the files whose names contain the text. Results with machine and date go to bench/RESULTS.md
// at the root; nothing is compared with an older run. Each bench file exports `bench: BenchFile`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { runAgentBench } from './agent/main.ts';
import type { BenchFile } from './bench-file.ts';
import { describeMachine } from './machine.ts';
import { runPlatformBench } from './platform/main.ts';
import { runProverBench } from './prover/main.ts';
import { runSpendBench } from './prover/spends.ts';
import type { Measurement } from './results.ts';
import { saveRates } from './results-store.ts';

async function measureRates(filter: string): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const files = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.bench.ts') && file.includes(filter))
    .sort();
  for (const file of files) {
    const { bench: definition } = (await import(join(import.meta.dirname, file))) as {
      readonly bench: BenchFile;
    };
    const bench = new Bench({ time: 1000, warmupTime: 200 });
    await definition.add(bench);
    process.stdout.write(`${definition.title}\n`);
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (result.state !== 'completed')
        throw new Error(`${file}: ${name} ended as ${result.state}`);
      const measurement: Measurement = {
        title: definition.title,
        name,
        perSecond: 1000 / result.latency.mean,
        spreadPercent: result.latency.rme,
        samples: result.latency.samplesCount,
      };
      measurements.push(measurement);
      process.stdout.write(`  ${name}: ${measurement.perSecond.toFixed(1)} per second\n`);
    }
    for (const { name, detail, perSecond } of (await definition.once?.()) ?? []) {
      measurements.push({
        title: definition.title,
        name: `${name} (${detail})`,
        perSecond,
        spreadPercent: undefined,
        samples: 1,
      });
      process.stdout.write(`  ${name}: ${perSecond.toFixed(0)} per second (${detail})\n`);
    }
    await definition.close?.();
  }
  return measurements;
}

const [what = '', ...rest] = process.argv.slice(2);
if (what !== 'prover' && what !== 'agent' && what !== 'platform' && what !== 'spends') {
  const measurements = await measureRates(what === 'rates' ? '' : what);
  // A part of the table would hide the rest.
  if (what === '' || what === 'rates') {
    const date = new Date().toISOString().slice(0, 10);
    saveRates({ machine: describeMachine(), date, measurements });
  }
}
if (what === '' || what === 'agent') {
  await runAgentBench(rest);
}
if (what === '' || what === 'platform') {
  await runPlatformBench(rest);
}
if (what === '' || what === 'prover') {
  await runProverBench(rest);
}
if (what === '' || what === 'spends') {
  await runSpendBench(rest);
}
