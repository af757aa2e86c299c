/**
 * One row of the catalogue of error codes.
 *
 * @module
 */

export type ErrorEntry = {
  /** What happened, in one sentence. The message of an error says more: what was found, where, and what to do. */
  readonly meaning: string;
  /** Status where the error is an HTTP answer. Absent: 400 where a route answers it after all. */
  readonly status?: number;
  /** The same call can succeed later without a change by the caller. */
  readonly retry?: true;
  /** Exit code of a command that ends with it. Absent: 1. */
  readonly exit?: number;
};

export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;
