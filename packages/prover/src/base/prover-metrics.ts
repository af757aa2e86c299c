/**
 * What a prover tells about itself: the device or processor that makes proofs, and its metrics.
 *
 * @module
 */

/** The device or processor that makes the proofs; for a readiness route. */
export type AcceleratorDescription = {
  /** `none` before the first proof starts an engine, and for dry runs. */
  readonly kind: 'cpu' | 'webgpu' | 'none';
  readonly detail: string;
};

// The metrics of a prover, as numbers and as Prometheus text. Public: they contain no input and no witness.

/** The proofs of one circuit since the start. */
export type CircuitMetrics = {
  /** The circuit's name, or the name of its proving key's file; `other` from the 101st on. */
  readonly circuit: string;
  /** Number of proofs by outcome: `proved`, the code of a ProverError, or `failed` for any other error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Pairs of a bound in seconds and the number of proofs made within it, without the waiting time. */
  readonly durations: readonly (readonly [bound: number, proofs: number])[];
  /** Total seconds of all successful proofs, and total seconds of waiting before their start (including artifacts). */
  readonly seconds: number;
  readonly waitSeconds: number;
};

export type ProverMetrics = {
  readonly accelerator: AcceleratorDescription;
  readonly circuits: readonly CircuitMetrics[];
  /** Proofs that wait for their turn. */
  readonly queued: number;
  /** Running proofs: at most one in each of witness, sums, and verification. */
  readonly running: number;
  /** Successful proofs since the start. */
  readonly proofs: number;
  /** Calls that ended in an error, including aborts. */
  readonly failures: number;
  /** Seconds during which a proof was running. Its rate is the utilisation. */
  readonly secondsBusy: number;
  /** Proving keys in memory, and their memory in bytes. */
  readonly residentKeys: number;
  readonly residentBytes: number;
  /** Memory that keys and proofs may use, in bytes. */
  readonly memoryBudgetBytes: number;
  /** Keys that were removed to free memory. */
  readonly evictions: number;
  /** How often the accelerator went away, reported an error, and made a proof that does not verify. */
  readonly acceleratorLosses: number;
  readonly acceleratorRefusals: number;
  readonly wrongResults: number;
  /** 1 if the accelerator failed too often and is not used until a restart. */
  readonly acceleratorRetired: 0 | 1;
};

export type MetricSample = readonly [
  suffix: string,
  labels: Readonly<Record<string, string>>,
  value: number | string,
];

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** One metric with its samples in Prometheus' text format. The suffix is empty but for histograms. */
export function renderMetricFamily(
  name: string,
  type: 'gauge' | 'counter' | 'histogram',
  help: string,
  samples: readonly MetricSample[],
): string {
  const lines = samples.map(([suffix, labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

type Numeric = {
  [Field in keyof ProverMetrics]: ProverMetrics[Field] extends number ? Field : never;
}[keyof ProverMetrics];

const single: readonly (readonly [Numeric, string, 'gauge' | 'counter', string])[] = [
  ['queued', 'queued', 'gauge', 'Proofs that wait for their turn.'],
  ['running', 'running', 'gauge', 'Proofs under way.'],
  [
    'secondsBusy',
    'busy_seconds_total',
    'counter',
    'Seconds during which a proof was under way; the rate is the utilisation.',
  ],
  ['residentKeys', 'resident_keys', 'gauge', 'Proving keys in memory.'],
  ['residentBytes', 'resident_bytes', 'gauge', 'Memory of the proving keys in memory.'],
  ['memoryBudgetBytes', 'memory_budget_bytes', 'gauge', 'Memory that keys and work may take.'],
  ['evictions', 'evictions_total', 'counter', 'Keys that were removed to free memory.'],
  ['acceleratorLosses', 'accelerator_losses_total', 'counter', 'Times the accelerator went away.'],
  [
    'acceleratorRefusals',
    'accelerator_refusals_total',
    'counter',
    'Times the accelerator reported an error.',
  ],
  [
    'acceleratorRetired',
    'accelerator_retired',
    'gauge',
    '1 once the accelerator failed too often and is not used until a restart.',
  ],
  [
    'wrongResults',
    'wrong_results_total',
    'counter',
    'Results of the accelerator that did not verify.',
  ],
];

function renderHistogram({
  circuit,
  outcomes,
  durations,
  seconds,
}: CircuitMetrics): readonly MetricSample[] {
  const proved = outcomes['proved'] ?? 0;
  return [
    ...durations.map(
      ([bound, count]): MetricSample => ['_bucket', { circuit, le: `${bound}` }, count],
    ),
    ['_bucket', { circuit, le: '+Inf' }, proved],
    ['_sum', { circuit }, seconds],
    ['_count', { circuit }, proved],
  ];
}

/**
 * The snapshot in Prometheus' text format, version 0.0.4.
 *
 * @param prefix - how each name begins, before an underscore
 */
export function renderProverMetrics(metrics: ProverMetrics, prefix = 'prover'): string {
  const { accelerator, circuits } = metrics;
  return [
    renderMetricFamily(
      `${prefix}_accelerator_info`,
      'gauge',
      'The device or processor that makes the proofs.',
      [['', { kind: accelerator.kind, detail: accelerator.detail }, 1]],
    ),
    renderMetricFamily(
      `${prefix}_proofs_total`,
      'counter',
      'Proofs requested, by outcome.',
      circuits.flatMap(({ circuit, outcomes }) =>
        Object.entries(outcomes).map(
          ([outcome, count]): MetricSample => ['', { circuit, outcome }, count],
        ),
      ),
    ),
    renderMetricFamily(
      `${prefix}_proof_duration_seconds`,
      'histogram',
      'Time of a proof from its turn until it is verified.',
      circuits.flatMap(renderHistogram),
    ),
    renderMetricFamily(
      `${prefix}_wait_seconds_total`,
      'counter',
      'Time that proofs waited for artifacts and for their turn.',
      circuits.map(({ circuit, waitSeconds }): MetricSample => ['', { circuit }, waitSeconds]),
    ),
    ...single.map(([field, name, type, help]) =>
      renderMetricFamily(`${prefix}_${name}`, type, help, [['', {}, metrics[field]]]),
    ),
  ].join('');
}
