// The benchmark of the deployed spend circuits as a section of RESULTS.md.
import { fastest, type ProverMeasurement } from './measurement.ts';

export interface SpendResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Of the machine before and after, its other work included. */
  readonly loadAverage: readonly [number, number];
  readonly circuits: readonly {
    readonly name: string;
    /** For a warm job on two free cores. */
    readonly goalMs: number;
    /** Name of the prover to its measurement, ours first. */
    readonly provers: Readonly<Record<string, ProverMeasurement>>;
  }[];
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** A section: one row for each circuit and prover, with the stages of the fastest warm job. */
export function renderSpendResults(results: SpendResults): string {
  const load = results.loadAverage.map((value) => value.toFixed(1)).join(' before and ');
  const rows = results.circuits.flatMap(({ name, goalMs, provers }) =>
    Object.entries(provers).map(([prover, { warmMs, coldMs, phasesMs, peakBytes }], index) => {
      const { witness = 0, ...others } = phasesMs;
      const verification = others['blinding and verification'] ?? others['verification'] ?? 0;
      const proof = others['proof'] ?? others['proof with blinding'] ?? 0;
      const stages = [witness, proof, verification].map(formatSeconds).join(' | ');
      const goal = index === 0 ? `≤ ${goalMs / 1000} s` : '';
      const peak = (peakBytes / 2 ** 20).toFixed(0);
      return `| ${name} | ${prover} | ${goal} | ${formatSeconds(fastest(warmMs))} | ${formatSeconds(fastest(coldMs))} | ${stages} | ${peak} |`;
    }),
  );
  return [
    '## Proofs of spends',
    '',
    `${results.machine}. ${results.date}. Load average ${load} after the run. The spends of \`/vectors\`, measured as above; the stages are those of the fastest warm job.`,
    '',
    ...Object.entries(results.versions).map(([name, version]) => `- ${name}: ${version}`),
    '',
    '| circuit | prover | goal, warm | warm | cold | witness | proof | verification | peak MiB |',
    '|---|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
    '',
  ].join('\n');
}
