/**
 * Errors of the prover for failures while a proving key is read.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';

/** The error for a proving key that is damaged, or not a Groth16 key over BN254. */
export function malformed(message: string): ProverError {
  return new ProverError('zkey_malformed', message);
}

/** The error for a file that cannot be read. */
export function unreadable(cause: unknown): ProverError {
  return new ProverError(
    'proof_failed',
    'The proving key cannot be read. Check its path and permissions.',
    { retryable: true, cause },
  );
}

/**
 * Waits for work on a key and converts its errors: errors of the format become `zkey_malformed`, arrays that cannot be allocated
 * `memory_budget_exceeded`, and all others, which come from the file system, `proof_failed`.
 */
export async function translate<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProverError) {
      throw error;
    }
    if (error instanceof Error && 'code' in error && error.code === 'zkey_malformed') {
      throw malformed(error.message);
    }
    if (error instanceof RangeError) {
      throw new ProverError(
        'memory_budget_exceeded',
        'A section of the proving key is larger than an array can be. Use a smaller key.',
        { cause: error },
      );
    }
    throw unreadable(error);
  }
}
