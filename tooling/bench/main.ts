// `pnpm bench [text]`: runs every `*.bench.ts` of this folder whose name contains the text, one after the other, and
// writes what it measured to RESULTS.md beside this file, with the machine and the date. Figures are of this machine
// and this run; nothing is compared with an older one. Each bench file exports `bench: BenchFile`.
import { readdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import type { BenchFile } from './bench-file.ts';
import { type Measurement, renderResults } from './results.ts';

const filter = process.argv[2] ?? '';
const files = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts') && file.includes(filter))
  .sort();
const measurements: Measurement[] = [];

for (const file of files) {
  const { bench: definition } = (await import(join(import.meta.dirname, file))) as {
    readonly bench: BenchFile;
  };
  const bench = new Bench({ time: 1000, warmupTime: 200 });
  await definition.add(bench);
  process.stdout.write(`${definition.title}\n`);
  await bench.run();
  for (const { name, result } of bench.tasks) {
    if (result.state !== 'completed') throw new Error(`${file}: ${name} ended as ${result.state}`);
    const measurement: Measurement = {
      title: definition.title,
      name,
      perSecond: 1000 / result.latency.mean,
      spreadPercent: result.latency.rme,
      samples: result.latency.samplesCount,
    };
    measurements.push(measurement);
    process.stdout.write(`  ${name}: ${measurement.perSecond.toFixed(0)} per second\n`);
  }
}

if (filter === '' && measurements.length > 0) {
  const processors = cpus();
  const machine = `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} logical cores, ${(
    totalmem() / 2 ** 30
  ).toFixed(0)} GiB, ${type()} ${release()}, Node ${process.version}`;
  const text = renderResults(machine, new Date(), measurements);
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), text);
}
