/**
 * The one error type of Pool. Every failure that can reach a person carries a stable `code`, a message
 * that says what to do, and whether a retry can help. Recognise errors by `code`, never by class:
 * two copies of this package may be loaded in one process.
 *
 * @module
 */
import type { Brand } from './brand.ts';
import { errorRows } from './generated/error-rows.ts';

/** What a code implies. */
export type ErrorEntry = {
  /** Status where the error is an HTTP answer. Absent: no route answers it; `PoolError` then has 400. */
  readonly status?: number;
  /** The same call can succeed later without a change by the caller. */
  readonly retry?: true;
  /** Exit code of a command that ends with it. Absent: 1. */
  readonly exit?: number;
};

/** Codes that imply the same, as a package declares them in its `src/errors.ts`. */
export type ErrorGroup = ErrorEntry & {
  /** By code: what happened, then what to do. The message of an error names the value, the place and the remedy. */
  readonly meanings: Readonly<Record<string, string>>;
};

/** The codes of some groups. */
export type CodeOf<Group extends ErrorGroup> = Group extends ErrorGroup
  ? keyof Group['meanings'] & string
  : never;

/** A code that a package or app declares. Another one does not compile. */
export type ErrorCode = keyof typeof errorRows;

/** @returns what a code implies; undefined for a code of another version or service */
export function findErrorEntry(code: string): ErrorEntry | undefined {
  const entries: Readonly<Record<string, ErrorEntry>> = errorRows;
  return Object.hasOwn(entries, code) ? entries[code] : undefined;
}

/** A code as another process answered it: a service of another version may know codes that this one does not have. */
export type PeerCode = Brand<string, 'PeerCode'>;

/** @param code - read from the answer of another process */
export function peerCode(code: string): PeerCode {
  return code as PeerCode;
}

/** Public, non-secret facts about a failure, safe to answer over HTTP and to log. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

export type PoolErrorOptions = {
  /** Can the same call succeed later without a change by the caller? Default: as declared for the code. */
  readonly retryable?: boolean;
  /** HTTP status where a route answers this failure. Default: as declared for the code, else 400. */
  readonly status?: number;
  /** Public facts. Never put secrets or request values here. */
  readonly details?: ErrorDetails;
  /** Everything that is wrong, one entry each, for the terminal of a command: it may show what was given. Never answered over HTTP. */
  readonly problems?: readonly object[];
  /** The underlying error. Kept for logs; never answered. */
  readonly cause?: unknown;
};

/** A failure with a stable code. `message` is public: it never contains a secret or echoes input. */
export class PoolError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  readonly problems: readonly object[] | undefined;

  /** @param code - a declared code, or a {@link peerCode} that another process answered */
  constructor(code: ErrorCode | PeerCode, message: string, options: PoolErrorOptions = {}) {
    const entry = findErrorEntry(code);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PoolError';
    this.code = code;
    this.retryable = options.retryable ?? entry?.retry ?? false;
    this.status = options.status ?? entry?.status ?? 400;
    this.details = options.details;
    this.problems = options.problems;
  }
}

/** True for anything with the shape of a {@link PoolError}, whichever copy of the package made it. */
export function isPoolError(error: unknown): error is PoolError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'retryable' in error &&
    typeof error.retryable === 'boolean' &&
    'status' in error &&
    typeof error.status === 'number'
  );
}

/** The code of any thrown value: a `PoolError`'s own, else `undefined`. */
export function errorCodeOf(error: unknown): string | undefined {
  return isPoolError(error) ? error.code : undefined;
}

/** What every route answers and every job stores when something fails. */
export type ErrorBody = { readonly code: string; readonly message: string };

/**
 * The one form in which agent, gate and platform report a wrong configuration: every problem, one per line.
 * @param problems - at least one; each names the variable or file, what is wrong and what is expected, and no value
 * @returns PoolError `invalid_configuration`
 */
export function createConfigurationError(problems: readonly string[]): PoolError {
  const lines = problems.map((problem) => `\n- ${problem}`).join('');
  return new PoolError('invalid_configuration', `the configuration has problems:${lines}`, {
    problems: problems.map((message) => ({ message })),
  });
}
