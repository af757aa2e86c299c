// Rates measured by `*.bench.ts` files as a section of RESULTS.md.

export interface Measurement {
  readonly title: string;
  readonly name: string;
  readonly perSecond: number;
  /** Relative margin of error, in percent; undefined for a task that ran once. */
  readonly spreadPercent?: number | undefined;
  readonly samples: number;
}

export interface RateResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly measurements: readonly Measurement[];
}

/** The machine and the day first, then one table for each title. */
export function renderRates({ machine, date, measurements }: RateResults): string {
  const titles = [...new Set(measurements.map(({ title }) => title))];
  const tables = titles.map((title) => {
    const rows = measurements
      .filter((measurement) => measurement.title === title)
      .map(
        ({ name, perSecond, spreadPercent, samples }) =>
          `| ${name} | ${perSecond.toFixed(perSecond < 100 ? 1 : 0)} | ${spreadPercent === undefined ? '' : `±${spreadPercent.toFixed(1)} %`} | ${samples} |`,
      );
    return [
      `### ${title}`,
      '',
      '| task | per second | margin | samples |',
      '|---|--:|--:|--:|',
      ...rows,
      '',
    ].join('\n');
  });
  return `## Rates\n\n${machine}. ${date}.\n\n${tables.join('\n')}`;
}
