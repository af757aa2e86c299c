// `pnpm bench rates` runs every `*.bench.ts` of this folder, `pnpm bench <text>` those whose names contain the text. Each exports
// `bench: BenchFile`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { createStamp, type Table } from './results.ts';
import { saveSection } from './results-store.ts';

/** A task that is too long to repeat. */
export interface OneRun {
  readonly name: string;
  readonly detail: string;
  readonly perSecond: number;
}

/** What a `*.bench.ts` file exports. */
export interface BenchFile {
  /** What is measured, as a heading. */
  readonly title: string;
  /** Adds the tasks. A task checks nothing: correctness belongs to the tests. */
  readonly add: (bench: Bench) => void | Promise<void>;
  /** Measured once, after the tasks. */
  readonly once?: () => Promise<readonly OneRun[]>;
  /** Ends the processes that `add` started. */
  readonly close?: () => Promise<void>;
}

export interface Measurement {
  readonly title: string;
  readonly name: string;
  readonly perSecond: number;
  /** Relative margin of error, in percent; undefined for a task that ran once. */
  readonly spreadPercent?: number;
  readonly samples: number;
}

/** One table for each title. */
export function tabulateRates(measurements: readonly Measurement[]): Table[] {
  return Array.from(
    Map.groupBy(measurements, ({ title }) => title),
    ([title, measured]) => ({
      title,
      columns: ['task', 'per second', 'margin', 'samples'],
      rows: measured.map(({ name, perSecond, spreadPercent, samples }) => [
        name,
        perSecond.toFixed(perSecond < 100 ? 1 : 0),
        spreadPercent === undefined ? '' : `±${spreadPercent.toFixed(1)} %`,
        String(samples),
      ]),
    }),
  );
}

/** @param filter - part of the names of the files; their results are only shown, since a part of the table would hide the rest */
export async function runRateBench(filter: string): Promise<void> {
  const measurements: Measurement[] = [];
  const keep = (measurement: Measurement): void => {
    measurements.push(measurement);
    process.stdout.write(`  ${measurement.name}: ${measurement.perSecond.toFixed(1)} per second\n`);
  };
  const files = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.bench.ts') && file.includes(filter))
    .sort();
  for (const file of files) {
    const { bench: definition } = (await import(join(import.meta.dirname, file))) as {
      readonly bench: BenchFile;
    };
    const { title } = definition;
    const bench = new Bench({ time: 1000, warmupTime: 200 });
    await definition.add(bench);
    process.stdout.write(`${title}\n`);
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (result.state !== 'completed')
        throw new Error(`${file}: ${name} ended as ${result.state}`);
      const { mean, rme: spreadPercent, samplesCount: samples } = result.latency;
      keep({ title, name, perSecond: 1000 / mean, spreadPercent, samples });
    }
    for (const { name, detail, perSecond } of (await definition.once?.()) ?? []) {
      keep({ title, name: `${name} (${detail})`, perSecond, samples: 1 });
    }
    await definition.close?.();
  }
  if (filter === '') {
    const tables = tabulateRates(measurements);
    saveSection('rates', { title: 'Rates', ...createStamp(), about: '', tables });
  }
}
