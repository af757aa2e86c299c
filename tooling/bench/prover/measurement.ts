// What one prover did with one circuit, in a process of its own.

export interface ProverMeasurement {
  readonly power: number;
  /** Milliseconds of each run after the first; the first one warms up and is `coldMs`. */
  readonly witnessMs: readonly number[];
  /** Proof without witness and without verification. */
  readonly proofMs: readonly number[];
  /** The first proof of the process: reading and converting the key included. */
  readonly coldMs: number;
  /** Parts of the fastest proof, where the prover tells them. */
  readonly phasesMs: Readonly<Record<string, number>>;
  /** Resident memory of the process at its highest. */
  readonly peakBytes: number;
}

/** The machine was shared: the fastest run is the one that was disturbed least. */
export function fastest(values: readonly number[]): number {
  return Math.min(...values);
}

/** One part of a proof, alone, by ours and by snarkjs in the same process: the fastest runs. */
export interface PhaseMeasurement {
  readonly power: number;
  readonly phase: string;
  readonly oursMs: number;
  readonly snarkjsMs: number;
}
