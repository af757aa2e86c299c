// Writes measurements as a Markdown page.

export interface Measurement {
  readonly title: string;
  readonly name: string;
  readonly perSecond: number;
  /** Relative margin of error, in percent. */
  readonly spreadPercent: number;
  readonly samples: number;
}

/** The page: the machine and the day first, then one table for each title. */
export function renderResults(
  machine: string,
  date: Date,
  measurements: readonly Measurement[],
): string {
  const titles = [...new Set(measurements.map(({ title }) => title))];
  const tables = titles.map((title) => {
    const rows = measurements
      .filter((measurement) => measurement.title === title)
      .map(
        ({ name, perSecond, spreadPercent, samples }) =>
          `| ${name} | ${perSecond.toFixed(perSecond < 100 ? 1 : 0)} | ±${spreadPercent.toFixed(1)} % | ${samples} |`,
      );
    return [
      `## ${title}`,
      '',
      '| task | per second | margin | samples |',
      '|---|--:|--:|--:|',
      ...rows,
      '',
    ].join('\n');
  });
  return `# Benchmarks\n\nWritten by \`pnpm bench\`. ${machine}. ${date.toISOString().slice(0, 10)}.\n\n${tables.join('\n')}`;
}
