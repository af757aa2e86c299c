/**
 * Counts proofs by circuit and outcome, and measures their durations.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';
import { describeFile } from '../base/file-input.ts';
import type { ProveRequest } from '../base/prover.ts';
import type { CircuitMetrics } from '../base/prover-metrics.ts';

/** Upper bounds of the histogram, in seconds. */
const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

/** Circuits counted by name. Later ones count as `other`, because each name is a time series in the operator's monitoring. */
const maximumCircuits = 100;

export type ProofTimer = {
  /** The proof starts. */
  readonly start: () => void;
  readonly finish: () => void;
  readonly fail: (error: unknown) => void;
};

export type ProofStatistics = {
  /** A proof is requested. */
  readonly open: (circuit: ProveRequest['circuit']) => ProofTimer;
  readonly circuits: () => CircuitMetrics[];
};

/** The name of a circuit, or of its proving key's file. */
function nameOf(circuit: ProveRequest['circuit']): string {
  return typeof circuit === 'string'
    ? circuit
    : describeFile(circuit.zkey, 'proving key').name.replace(/\.zkey$/, '');
}

type Counts = {
  readonly outcomes: Map<string, number>;
  readonly buckets: number[];
  seconds: number;
  waitSeconds: number;
};

/** @param nowMs - a monotonic clock */
export function createProofStatistics(nowMs: () => number): ProofStatistics {
  const circuits = new Map<string, Counts>();

  const find = (circuit: ProveRequest['circuit']): Counts => {
    const own = nameOf(circuit);
    const name = circuits.has(own) || circuits.size < maximumCircuits ? own : 'other';
    const known = circuits.get(name) ?? {
      outcomes: new Map(),
      buckets: durationBounds.map(() => 0),
      seconds: 0,
      waitSeconds: 0,
    };
    circuits.set(name, known);
    return known;
  };

  return {
    open: (circuit) => {
      const counts = find(circuit);
      const askedMs = nowMs();
      let startedMs: number | undefined;
      const count = (outcome: string) => {
        counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1);
      };
      return {
        start: () => {
          startedMs = nowMs();
          counts.waitSeconds += (startedMs - askedMs) / 1000;
        },
        finish: () => {
          const seconds = (nowMs() - (startedMs ?? askedMs)) / 1000;
          counts.seconds += seconds;
          for (const [index, bound] of durationBounds.entries()) {
            if (seconds <= bound) {
              counts.buckets[index] = (counts.buckets[index] ?? 0) + 1;
            }
          }
          count('proved');
        },
        fail: (error) => {
          count(error instanceof ProverError ? error.code : 'failed');
        },
      };
    },
    circuits: () =>
      [...circuits].map(([circuit, { outcomes, buckets, seconds, waitSeconds }]) => ({
        circuit,
        outcomes: Object.fromEntries(outcomes),
        durations: durationBounds.map((bound, index) => [bound, buckets[index] ?? 0] as const),
        seconds,
        waitSeconds,
      })),
  };
}
