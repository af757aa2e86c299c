/**
 * How a settlement is refused: with the field and the reason, never with a value.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';

/** @returns PoolError `invalid_settlement` (400) */
export function refuse(reason: string, cause?: unknown): PoolError {
  return new PoolError('invalid_settlement', `settlement refused: ${reason}`, { cause });
}

/** @throws PoolError `invalid_settlement` naming the field and the code of what `parse` threw */
export function attempt<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw refuse(`${path} (${isPoolError(cause) ? cause.code : 'malformed'})`, cause);
  }
}
