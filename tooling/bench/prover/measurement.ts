// The measurement of one prover with one circuit. A job is: witness from the input, proof, blinding, verification of the proof.

export interface ProverMeasurement {
  readonly power: number;
  /**
   * Milliseconds of each whole job in a process that had made one before, the input and the key in memory. Empty: the prover has
   * no form that stays in memory.
   */
  readonly warmMs: readonly number[];
  /** Parts of the fastest warm job; of the fastest cold one if there is no warm form. */
  readonly phasesMs: Readonly<Record<string, number>>;
  /** Milliseconds of each whole job as for the user of a command: new processes, from their start to their end. */
  readonly coldMs: readonly number[];
  /** Highest resident memory of the warm process; of the cold proof if there is no warm form. */
  readonly peakBytes: number;
}

/** The output of a measured program: jobs of one process. */
export interface ProcessMeasurement {
  readonly jobs: readonly { readonly ms: number; readonly phasesMs: Record<string, number> }[];
  readonly peakBytes: number;
}

/** The machine was shared, so the fastest run had the least disturbance. */
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
