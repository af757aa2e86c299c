/**
 * What a prover tells about itself, as numbers and as the text that Prometheus reads.
 *
 * @module
 */

export type ProverMetrics = {
  /** Proofs that wait for their turn. */
  readonly queued: number;
  /** Proofs under way: 0 or 1. */
  readonly running: number;
  /** Proofs handed out since the start. */
  readonly proofs: number;
  /** Proofs that ended in an error, aborts included. */
  readonly failures: number;
  /** Seconds during which a proof was under way; its rate is the utilisation. */
  readonly secondsBusy: number;
  /** Proving keys held ready, and the memory they take in bytes. */
  readonly residentKeys: number;
  readonly residentBytes: number;
  /** Memory that keys may take, in bytes. */
  readonly memoryBudgetBytes: number;
  /** Keys that made room for others. */
  readonly evictions: number;
  /** Times that the accelerator went away, and that it gave a proof which did not verify. */
  readonly acceleratorLosses: number;
  readonly wrongResults: number;
};

const DESCRIPTIONS: readonly (readonly [
  keyof ProverMetrics,
  string,
  'gauge' | 'counter',
  string,
])[] = [
  ['queued', 'prover_queued', 'gauge', 'Proofs that wait for their turn.'],
  ['running', 'prover_running', 'gauge', 'Proofs under way.'],
  ['proofs', 'prover_proofs_total', 'counter', 'Proofs handed out.'],
  ['failures', 'prover_failures_total', 'counter', 'Proofs that ended in an error.'],
  [
    'secondsBusy',
    'prover_busy_seconds_total',
    'counter',
    'Seconds during which a proof was under way.',
  ],
  ['residentKeys', 'prover_resident_keys', 'gauge', 'Proving keys held ready.'],
  ['residentBytes', 'prover_resident_bytes', 'gauge', 'Memory of the keys held ready.'],
  ['memoryBudgetBytes', 'prover_memory_budget_bytes', 'gauge', 'Memory that keys may take.'],
  ['evictions', 'prover_evictions_total', 'counter', 'Keys that made room for others.'],
  [
    'acceleratorLosses',
    'prover_accelerator_losses_total',
    'counter',
    'Times the accelerator went away.',
  ],
  [
    'wrongResults',
    'prover_wrong_results_total',
    'counter',
    'Results of the accelerator that did not verify.',
  ],
];

/** The snapshot in Prometheus' text format, version 0.0.4. */
export const renderProverMetrics = (metrics: ProverMetrics): string =>
  DESCRIPTIONS.map(
    ([field, name, type, help]) =>
      `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${metrics[field]}\n`,
  ).join('');
