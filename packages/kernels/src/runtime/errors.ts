/**
 * Errors of the kernels. Recognise them by `code`; messages never contain an input.
 *
 * @module
 */

export type KernelsErrorCode =
  /** The request does not fit into the memory budget. */
  | 'out_of_memory'
  /** The kernels were closed, before or during the call. */
  | 'kernels_closed'
  /** This runtime cannot start the kernels: no shared memory, no threads, or no SIMD. */
  | 'start_failed'
  /** The program of a thread did not load: a bundler left its file out, or a policy refuses it. */
  | 'thread_file_missing'
  /** A thread ended unexpectedly. Trying again can help: it is replaced. */
  | 'thread_died'
  /** A kernel stopped. Nothing of its result is kept. */
  | 'kernel_failed'
  /** An argument has the wrong length or range, or was released. */
  | 'input_refused';

export class KernelsError extends Error {
  readonly code: KernelsErrorCode;
  readonly retryable: boolean;

  constructor(
    code: KernelsErrorCode,
    message: string,
    options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KernelsError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** The error that an operation fails with: the reason itself if it is an Error. */
export function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
