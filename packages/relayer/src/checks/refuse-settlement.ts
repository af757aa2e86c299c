/**
 * How a settlement or a spend is refused: with the field and the reason, never with a value.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';

export const { refuse, attempt } = createRefusals('invalid_settlement', 'settlement');

export const { refuse: refuseSpend, attempt: attemptSpend } = createRefusals(
  'invalid_spend',
  'spend',
);

function createRefusals(code: 'invalid_settlement' | 'invalid_spend', what: string) {
  /** @returns PoolError `invalid_settlement` or `invalid_spend` (400) */
  function refuse(reason: string, cause?: unknown): PoolError {
    return new PoolError(code, `${what} refused: ${reason}`, { cause });
  }

  /** @throws PoolError naming the field and the code of what `parse` threw */
  function attempt<T>(path: string, parse: () => T): T {
    try {
      return parse();
    } catch (cause) {
      throw refuse(`${path} (${isPoolError(cause) ? cause.code : 'malformed'})`, cause);
    }
  }
  return { refuse, attempt };
}
