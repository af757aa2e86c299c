/**
 * Verifies proofs in a thread of its own, for a server that must answer others in the meantime. It says "valid", "not valid" or
 * "could not tell"; it never guesses.
 *
 * @module
 */

import { moduleBeside, type VerificationKey } from '@pool/kernels';
import { assertWithin, maximumTimeoutMs } from './check-arguments.ts';
import { ProverError } from './errors.ts';
import type { Groth16Proof } from './groth16.ts';
import type { VerifyRequest } from './verify-worker.ts';
import { createWorkerLink } from './worker-link.ts';

export type ProofVerifierOptions = {
  /** Calls that may be unanswered at once; one more is refused. Default: 64. */
  readonly maximumCalls?: number | undefined;
  /** How long one call may take, its turn included, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number | undefined;
};

export type ProofVerifier = {
  /**
   * As `verifyProof`, one call after the other in one thread.
   * @throws ProverError `verifier_unavailable` (retryable): too many calls, too slow, or the thread ended, and the next call starts
   *   another; `verification_key_malformed`; `prover_closed`
   */
  readonly verify: (
    verificationKey: VerificationKey,
    publicSignals: readonly string[],
    proof: Groth16Proof,
  ) => Promise<boolean>;
  /** Ends the thread, and fails what runs and what waits. */
  readonly close: () => Promise<void>;
};

function unavailable(reason: string, cause?: unknown): ProverError {
  return new ProverError('verifier_unavailable', `The proof was not verified: ${reason}.`, {
    retryable: true,
    cause,
  });
}

function toVerifierError(error: unknown): unknown {
  if (!(error instanceof ProverError)) {
    return unavailable('the verifier took too long', error);
  }
  return error.code === 'proof_failed' ? unavailable('the verifier’s thread ended', error) : error;
}

/**
 * Starts nothing until the first call. An idle verifier does not keep the process alive.
 * @param program the thread's module. For tests only.
 */
export function createProofVerifier(
  { maximumCalls = 64, timeoutMs = 10_000 }: ProofVerifierOptions = {},
  program: URL = moduleBeside(import.meta.url, 'verify-worker'),
): ProofVerifier {
  assertWithin('maximumCalls', maximumCalls, Number.MAX_SAFE_INTEGER);
  assertWithin('timeoutMs', timeoutMs, maximumTimeoutMs);
  const link = createWorkerLink<VerifyRequest, boolean>(program);
  let calls = 0;
  return {
    verify: async (verificationKey, publicSignals, proof) => {
      if (calls >= maximumCalls) {
        throw unavailable('too many proofs wait');
      }
      calls += 1;
      try {
        const request = { verificationKey, publicSignals, proof };
        return await link.call(request, AbortSignal.timeout(timeoutMs));
      } catch (error) {
        throw toVerifierError(error);
      } finally {
        calls -= 1;
      }
    },
    close: () => link.close(),
  };
}
