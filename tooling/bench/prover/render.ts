// The prover benchmark as a section of RESULTS.md and as a plot.
import { fastest, type PhaseMeasurement, type ProverMeasurement } from './measurement.ts';
import { type PlotSeries, renderPlot } from './plot.ts';

export interface ProverResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** Name of the prover to its version and how it was built. */
  readonly versions: Readonly<Record<string, string>>;
  /** Name of the prover to its measurements, ours first. */
  readonly provers: Readonly<Record<string, readonly ProverMeasurement[]>>;
  /** Parts of a proof alone; empty if they were not measured. */
  readonly phases: readonly PhaseMeasurement[];
}

function replacePowers<T extends { readonly power: number }>(
  before: readonly T[],
  after: readonly T[],
): T[] {
  const measured = new Set(after.map(({ power }) => power));
  return [...before.filter(({ power }) => !measured.has(power)), ...after].sort(
    (left, right) => left.power - right.power,
  );
}

/** Replaces older figures by newer ones of the same size and prover. */
export function mergeProverResults(before: ProverResults, after: ProverResults): ProverResults {
  const names = [...new Set([...Object.keys(before.provers), ...Object.keys(after.provers)])];
  return {
    ...after,
    versions: { ...before.versions, ...after.versions },
    provers: Object.fromEntries(
      names.map((name) => [
        name,
        replacePowers(before.provers[name] ?? [], after.provers[name] ?? []),
      ]),
    ),
    phases: replacePowers(before.phases, after.phases),
  };
}

const colours = ['#2a9d5c', '#d1495b', '#3d7ebf', '#b07d2b'];

function formatMs(ms: number): string {
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

function formatMiB(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

/** The fastest run, and how it compares with ours of the same kind. */
function renderTime(values: readonly number[], ours: readonly number[] | undefined): string {
  if (values.length === 0) return ' | ';
  const own = ours === undefined || ours.length === 0 ? undefined : fastest(ours);
  const ratio = own === undefined ? '' : `${(fastest(values) / own).toFixed(2)}×`;
  return `${formatMs(fastest(values))} | ${ratio}`;
}

function renderRow(
  name: string,
  measured: ProverMeasurement,
  ours: ProverMeasurement | undefined,
): string {
  const warm = renderTime(measured.warmMs, ours?.warmMs);
  const cold = renderTime(measured.coldMs, ours?.coldMs);
  return `| 2^${measured.power} | ${name} | ${warm} | ${cold} | ${formatMiB(measured.peakBytes)} |`;
}

/** The parts of the fastest job's time, one row per size. */
function renderStages(name: string, measurements: readonly ProverMeasurement[]): string[] {
  const stages = [...new Set(measurements.flatMap(({ phasesMs }) => Object.keys(phasesMs)))];
  if (stages.length === 0) return [];
  return [
    `Stages of ${name}:`,
    '',
    `| rows | ${stages.join(' | ')} |`,
    `|---|${stages.map(() => '--:|').join('')}`,
    ...measurements.map(
      ({ power, phasesMs }) =>
        `| 2^${power} | ${stages.map((stage) => formatMs(phasesMs[stage] ?? 0)).join(' | ')} |`,
    ),
    '',
  ];
}

/** Parts of a proof, each alone on the machine: time and how many times faster than snarkjs. */
function renderPhases(measurements: readonly PhaseMeasurement[]): string[] {
  const phases = [...new Set(measurements.map(({ phase }) => phase))];
  const powers = [...new Set(measurements.map(({ power }) => power))];
  if (phases.length === 0) return [];
  return [
    'Parts of a proof, each alone (in brackets: snarkjs over ours):',
    '',
    `| rows | ${phases.join(' | ')} |`,
    `|---|${phases.map(() => '--:|').join('')}`,
    ...powers.map((power) => {
      const cells = phases.map((phase) => {
        const found = measurements.find((one) => one.power === power && one.phase === phase);
        return found === undefined
          ? ''
          : `${formatMs(found.oursMs)} (${(found.snarkjsMs / found.oursMs).toFixed(1)}×)`;
      });
      return `| 2^${power} | ${cells.join(' | ')} |`;
    }),
    '',
  ];
}

/** A section: one row for each size and prover, the ratio being that prover's time over ours. */
export function renderProverResults(title: string, results: ProverResults): string {
  const entries = Object.entries(results.provers);
  const [ours] = entries;
  const powers = [...new Set(entries.flatMap(([, list]) => list.map(({ power }) => power)))];
  const rows = powers.flatMap((power) => {
    const own = ours?.[1].find((measured) => measured.power === power);
    return entries.flatMap(([name, list]) => {
      const measured = list.find((candidate) => candidate.power === power);
      return measured === undefined ? [] : [renderRow(name, measured, own)];
    });
  });
  return [
    `## ${title}`,
    '',
    `${results.machine}. ${results.date}. The fastest of several runs. A job is witness, proof, blinding and verification. “Warm”: in a process that has made one before (snarkjs decodes its key each time). “Cold”: new processes, the key read from a file. “Of ours”: the time over ours.`,
    '',
    ...Object.entries(results.versions).map(([name, version]) => `- ${name}: ${version}`),
    '',
    '| rows | prover | warm | of ours | cold | of ours | peak MiB |',
    '|---|---|--:|--:|--:|--:|--:|',
    ...rows,
    '',
    ...entries.slice(0, 1).flatMap(([name, measurements]) => renderStages(name, measurements)),
    ...renderPhases(results.phases),
  ].join('\n');
}

/** Time of a job against rows: one line per prover and kind. */
export function renderProverPlot(results: ProverResults): string {
  const series = Object.entries(results.provers).flatMap(([name, list], i): PlotSeries[] => {
    const colour = colours[i % colours.length] ?? '#888';
    const line = (kind: 'warm' | 'cold', times: (one: ProverMeasurement) => readonly number[]) => ({
      name: `${name}, ${kind}`,
      colour,
      isDashed: kind === 'cold',
      points: list
        .filter((one) => times(one).length > 0)
        .map((one) => [one.power, fastest(times(one))] as const),
    });
    return [line('warm', ({ warmMs }) => warmMs), line('cold', ({ coldMs }) => coldMs)];
  });
  return renderPlot(`Groth16: witness, proof and verification, ${results.date}`, series);
}
