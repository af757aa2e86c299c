// The prover benchmark as a section of RESULTS.md and as a plot.

import { renderSection, type Stamp, type Table } from '../results.ts';
import { fastest, type ProverMeasurement } from './measure.ts';
import { type PlotSeries, renderPlot } from './plot.ts';

export interface ProverResults extends Stamp {
  /** Name of the prover to its version and how it was built. */
  readonly versions: Readonly<Record<string, string>>;
  /** Of the machine before and after, its other work included. */
  readonly loadAverage?: readonly [number, number];
  /** Name of the prover to its measurements, ours first. */
  readonly provers: Readonly<Record<string, readonly ProverMeasurement[]>>;
}

function replacePowers(
  before: readonly ProverMeasurement[],
  after: readonly ProverMeasurement[],
): ProverMeasurement[] {
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
  };
}

const colours = ['#2a9d5c', '#d1495b', '#3d7ebf', '#b07d2b'];

function formatMs(ms: number): string {
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

/** The fastest run, and how it compares with ours of the same kind. */
function renderTime(values: readonly number[], ours: readonly number[] = []): [string, string] {
  if (values.length === 0) return ['', ''];
  const ratio = ours.length === 0 ? '' : `${(fastest(values) / fastest(ours)).toFixed(2)}×`;
  return [formatMs(fastest(values)), ratio];
}

function nameRow({ circuit, power }: ProverMeasurement): string {
  return circuit ?? `2^${power}`;
}

/** The parts of the fastest job's time, one row per size. */
function tabulateStages(name: string, measurements: readonly ProverMeasurement[]): Table {
  const stages = [...new Set(measurements.flatMap(({ phasesMs }) => Object.keys(phasesMs)))];
  return {
    title: `Stages of ${name}`,
    columns: ['rows', ...stages],
    rows: measurements.map((measured) => [
      nameRow(measured),
      ...stages.map((stage) => formatMs(measured.phasesMs[stage] ?? 0)),
    ]),
  };
}

/** A section: one row for each size and prover, the ratio being that prover's time over ours. */
export function renderProverResults(title: string, results: ProverResults): string {
  const { machine, date, versions, loadAverage, provers } = results;
  const entries = Object.entries(provers);
  const powers = [...new Set(entries.flatMap(([, list]) => list.map(({ power }) => power)))];
  const find = (list: readonly ProverMeasurement[] | undefined, power: number) =>
    list?.find((measured) => measured.power === power);
  const rows = powers.flatMap((power) => {
    const ours = find(entries[0]?.[1], power);
    return entries.flatMap(([name, list]) => {
      const measured = find(list, power);
      if (measured === undefined) return [];
      const peak = (measured.peakBytes / 2 ** 20).toFixed(0);
      const warm = renderTime(measured.warmMs, ours?.warmMs);
      return [
        [nameRow(measured), name, ...warm, ...renderTime(measured.coldMs, ours?.coldMs), peak],
      ];
    });
  });
  const load = loadAverage?.map((value) => value.toFixed(1)).join(' before and ');
  return renderSection({
    title,
    machine,
    date,
    about: [
      `The fastest of several runs. A job is witness, proof, blinding and verification. “Warm”: in a process that has made one before (snarkjs decodes its key each time). “Cold”: new processes, the key read from a file; “key prepared”: with the \`keyCacheDir\` of an earlier process. Ours runs its accelerated witness program, the others circom’s. “Of ours”: the time over ours.${load === undefined ? '' : ` Load average ${load} after the run.`}`,
      '',
      ...Object.entries(versions).map(([name, version]) => `- ${name}: ${version}`),
    ].join('\n'),
    tables: [
      { columns: ['rows', 'prover', 'warm', 'of ours', 'cold', 'of ours', 'peak MiB'], rows },
      ...entries.map(([name, measured]) => tabulateStages(name, measured)),
    ],
  });
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
