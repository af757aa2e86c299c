/**
 * Errors of a job store. They have the shape of every other error of the project (`code`, `retryable`, `status`), so callers
 * recognise them by code.
 *
 * @module
 */

export type StoreErrorCode =
  /** Another worker holds the job now. Not retryable: stop working on it. */
  | 'stale_fence'
  | 'unknown_job'
  /** Another process kept the database locked for longer than the time-out. Retryable. */
  | 'store_busy'
  | 'store_closed'
  /** The URL, the file or its version is not one this package can open. */
  | 'invalid_store';

const statuses: Readonly<Record<StoreErrorCode, number>> = {
  stale_fence: 409,
  unknown_job: 404,
  store_busy: 503,
  store_closed: 503,
  invalid_store: 500,
};

/** `message` is public: it never contains payloads or values. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly retryable: boolean;
  readonly status: number;
  readonly details: undefined = undefined;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.code = code;
    this.retryable = code === 'store_busy';
    this.status = statuses[code];
  }
}

export function staleFenceError(): StoreError {
  return new StoreError('stale_fence', 'another worker took over this job; nothing was written');
}

export function unknownJobError(): StoreError {
  return new StoreError('unknown_job', 'no job has this scope and key');
}

export function closedError(): StoreError {
  return new StoreError('store_closed', 'the job store is closed');
}

/** The key of a caller's job is used forever, so such a job is never deleted. @throws Error */
export function assertOwn(scope: string): void {
  if (!scope.startsWith(':')) {
    throw new Error('only what the agent keeps for itself can be deleted from a job store');
  }
}
