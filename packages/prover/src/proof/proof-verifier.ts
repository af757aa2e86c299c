/**
 * Verifies proofs in its own thread, for a server that must answer other requests meanwhile. The result is "valid", "not valid",
 * or an error if neither can be decided.
 *
 * @module
 */

import { moduleBeside, type VerificationKey, type WebWorkerConstructor } from '@pool/kernels';
import { assertWithin, maximumTimeoutMs } from '../base/check-arguments.ts';
import { ProverError } from '../base/errors.ts';
import type { Groth16Proof } from '../base/prover.ts';
import { createWorkerLink } from '../base/worker-link.ts';
import type { VerifyRequest } from './verify-worker.ts';

declare const Worker: WebWorkerConstructor;

export type ProofVerifierOptions = {
  /** Maximum number of unanswered calls. Further calls are refused. Default: 64. */
  readonly maximumCalls?: number | undefined;
  /** Time limit of one call in milliseconds, including waiting. Default: 10 seconds. */
  readonly timeoutMs?: number | undefined;
};

export type ProofVerifier = {
  /**
   * Like `verifyProof`, one call after another in one thread.
   * @throws ProverError `verifier_unavailable` (retryable): too many calls, too slow, or the thread ended (the next call starts
   *   another one); `verification_key_malformed`; `argument_invalid`; `prover_closed`
   */
  readonly verify: (
    verificationKey: VerificationKey,
    publicSignals: readonly string[],
    proof: Groth16Proof,
  ) => Promise<boolean>;
  /** Ends the thread. Running and waiting calls fail. */
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
 * Creates a verifier. It starts nothing before the first call. An idle verifier does not keep the process alive.
 *
 * @example
 * const verifier = createProofVerifier();
 * const isValid = await verifier.verify(verificationKey, publicSignals, proof);
 * await verifier.close();
 *
 * @param program the thread's module. For tests only
 * @throws ProverError `argument_invalid` for an option out of range; `runtime_unsupported`
 */
export function createProofVerifier(
  { maximumCalls = 64, timeoutMs = 10_000 }: ProofVerifierOptions = {},
  program: URL = moduleBeside(import.meta.url, 'verify-worker'),
): ProofVerifier {
  assertWithin('maximumCalls', maximumCalls, Number.MAX_SAFE_INTEGER);
  assertWithin('timeoutMs', timeoutMs, maximumTimeoutMs);
  const link = createWorkerLink<VerifyRequest, boolean>(
    program,
    () => new Worker(new URL('./verify-worker.js', import.meta.url), { type: 'module' }),
  );
  let calls = 0;
  return {
    verify: async (verificationKey, publicSignals, proof) => {
      if (calls >= maximumCalls) {
        throw unavailable('too many calls are waiting');
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
