/**
 * A run that stopped without an outcome: the process is shutting down, the lease was lost, or the store did not answer. The
 * job keeps its state, and the next run continues from the record.
 *
 * @module
 */

import type { ErrorBody } from '@pool/core';

/** Never makes a job fail. */
export class InterruptedRunError extends Error {
  readonly code = 'run_interrupted';

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the run was interrupted: ${reason}`, options);
    this.name = 'InterruptedRunError';
  }
}

/** A run that cannot continue with the current settings. Trying again soon does not help. */
export class BlockedRunError extends InterruptedRunError {
  /** The stored error. `message` is for readers of the job and must not be logged. */
  readonly blocked: ErrorBody;

  constructor(blocked: ErrorBody, options: { readonly cause?: unknown } = {}) {
    super(blocked.code, options);
    this.name = 'BlockedRunError';
    this.blocked = blocked;
  }
}

/** Throws interruptions again. The caller handles all other errors. */
export function rethrowInterruption(error: unknown): void {
  if (error instanceof InterruptedRunError) {
    throw error;
  }
}
