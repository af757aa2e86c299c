/**
 * Whether the proof of a settlement holds (SERVICE.md, "Settle"; docs/decisions/0025). It is verified in a
 * thread of its own, so no route waits, and before anything is stored or simulated. When nobody can tell, the
 * settlement is not accepted.
 *
 * @module
 */
import type { SolidityProof } from '@pool/api';
import { PoolError } from '@pool/core';
import { fromSolidityProof, type ProofVerifier, ProverError } from '@pool/prover';
import type { VerificationKeys } from '../verification-keys.ts';
import type { ProofInputs } from './check-batch.ts';

export type ProofCheck = {
  /** Before anything that takes long. @throws PoolError `batch_size_unsupported` (400) */
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
      // Not "try again": an agent that does so would keep its funder's other batches waiting.
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
          'settlement refused: the proof does not hold for this batch under this platform’s keys; ' +
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
