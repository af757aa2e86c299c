/**
 * A run that stopped without an outcome: the process is shutting down, the lease was lost, the store did not answer, or a test ended it.
 * The job keeps its phase, and the next run continues from what is stored.
 *
 * @module
 */
import { type ErrorBody, isPoolError } from '@pool/core';

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

/** The process stops, or another worker has the lease. */
export function createStopError(cause: unknown): InterruptedRunError {
  return new InterruptedRunError('shutting down or lease lost', { cause });
}

/**
 * Throws interruptions again. The caller handles all other errors.
 * @param signal - of the run: once it is aborted, every error is an interruption
 */
export function rethrowInterruption(error: unknown, signal?: AbortSignal): undefined {
  if (error instanceof InterruptedRunError) {
    throw error;
  }
  if (signal?.aborted === true) {
    throw createStopError(error);
  }
}

/** The error of a job that ends for a reason that was thrown. */
export function toErrorBody(error: unknown): ErrorBody {
  return isPoolError(error)
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'an unexpected error; see the log of the agent' };
}

/** Passes a named place where a crash could matter. @throws InterruptedRunError when a test ends the run there */
export async function passPoint<TPoint extends string>(
  onFaultPoint: (point: TPoint) => Promise<void>,
  point: TPoint,
): Promise<void> {
  try {
    await onFaultPoint(point);
  } catch (cause) {
    throw new InterruptedRunError(`stopped at ${point}`, { cause });
  }
}
