/**
 * A run that stopped without an outcome: the process is shutting down, the lease was lost, the store did
 * not answer. The job keeps its state and whoever leases it next goes on from the record.
 *
 * @module
 */

/** Never turned into a job's failure. */
export class InterruptedRunError extends Error {
  readonly code = 'run_interrupted';

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the run was interrupted: ${reason}`, options);
    this.name = 'InterruptedRunError';
  }
}

/** Passes interruptions on; everything else is the caller's to handle. */
export function rethrowInterruption(error: unknown): void {
  if (error instanceof InterruptedRunError) {
    throw error;
  }
}
