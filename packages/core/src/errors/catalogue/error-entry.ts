/**
 * One row of the catalogue of error codes.
 *
 * @module
 */

export type ErrorEntry = {
  /** What happened, then what to do, for a reader of the table. The message of an error names the value, the place and the remedy. */
  readonly meaning: string;
  /** Status where the error is an HTTP answer. Absent: no route answers it; `PoolError` then has 400. */
  readonly status?: number;
  /** The same call can succeed later without a change by the caller. */
  readonly retry?: true;
  /** Exit code of a command that ends with it. Absent: 1. */
  readonly exit?: number;
};

export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;
