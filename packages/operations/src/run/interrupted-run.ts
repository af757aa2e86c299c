/**
 * A run that stopped without an outcome: the process is shutting down, the lease was lost, the store did
 * not answer. The job keeps its state and whoever leases it next goes on from the record.
 *
 * @module
 */

import type { ErrorBody } from '@pool/core';

/** Never turned into a job's failure. */
export class InterruptedRunError extends Error {
  readonly code = 'run_interrupted';

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the run was interrupted: ${reason}`, options);
    this.name = 'InterruptedRunError';
  }
}

/** A run that cannot go on with the settings of this agent. Trying again soon is of no use. */
export class BlockedRunError extends InterruptedRunError {
  /** As it was persisted. `message` is for whoever may read the job, not for logs. */
  readonly blocked: ErrorBody;

  constructor(blocked: ErrorBody, options: { readonly cause?: unknown } = {}) {
    super(blocked.code, options);
    this.name = 'BlockedRunError';
    this.blocked = blocked;
  }
}

/** Passes interruptions on; everything else is the caller's to handle. */
export function rethrowInterruption(error: unknown): void {
  if (error instanceof InterruptedRunError) {
    throw error;
  }
}
