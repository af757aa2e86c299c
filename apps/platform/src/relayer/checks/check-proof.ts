/**
 * Verifies the proof of a settlement (docs/decisions/0025). It runs in a thread of its own, so no route waits, and before
 * anything is stored or simulated. Without a verdict, the settlement is not accepted.
 *
 * @module
 */
import type { SolidityProof } from '@pool/api';
import { PoolError } from '@pool/core';
import { fromSolidityProof, type ProofVerifier, ProverError } from '@pool/prover';
import type { VerificationKeys } from '../verification-keys.ts';
import type { ProofInputs } from './check-batch.ts';

export type ProofCheck = {
  /** Runs before the long checks. @throws PoolError `batch_size_unsupported` (400) */
  assertSize(size: number): void;
  /**
   * @param size - slots of the batch
   * @throws PoolError `proof_invalid`, `batch_size_unsupported` (400), `verifier_unavailable` (503, retryable)
   */
  assertProof(size: number, inputs: ProofInputs, proof: SolidityProof): Promise<void>;
};

export function createProofCheck(
  verifier: Pick<ProofVerifier, 'verify'>,
  keys: VerificationKeys,
): ProofCheck {
  function keyFor(size: number) {
    const key = keys.get(size);
    if (key === undefined) {
      // Not retryable: an agent that tries again would delay the other batches of its funder.
      throw new PoolError(
        'batch_size_unsupported',
        `settlement refused: this platform has no verification key for batches of ${size} slots; its operator must add one`,
      );
    }
    return key;
  }

  return {
    assertSize(size) {
      keyFor(size);
    },
    async assertProof(size, { digest, z, y }, proof) {
      const signals = [digest, z, y].map(String);
      const isValid = await verifier
        .verify(keyFor(size), signals, fromSolidityProof(proof))
        .catch((cause: unknown) => {
          throw unavailable(describe(cause), cause);
        });
      if (!isValid) {
        throw new PoolError(
          'proof_invalid',
          'settlement refused: the proof is not valid for this batch under this platform’s keys; ' +
            'agent and platform must use keys of the same ceremony',
        );
      }
    },
  };
}

function describe(error: unknown): string {
  return error instanceof ProverError ? error.message : 'the proof was not verified';
}

function unavailable(message: string, cause?: unknown): PoolError {
  return new PoolError('verifier_unavailable', message, { cause });
}
