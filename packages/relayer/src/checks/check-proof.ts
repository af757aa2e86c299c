/**
 * Verifies the proof of a settlement or a spend (docs/decisions/0009). It runs in a thread of its own, so no route waits, and before
 * anything is stored or simulated. Without a verdict, nothing is accepted.
 *
 * @module
 */
import type { SolidityProof } from '@pool/api';
import { PoolError, type SpendCircuit } from '@pool/core';
import { fromSolidityProof, type ProofVerifier, ProverError } from '@pool/prover';
import type { ProofInputs } from './check-batch.ts';
import type { VerificationKeys } from './verification-keys.ts';

/** What a proof is about: a batch of so many slots, or a spend of a circuit. */
export type Proven =
  | { readonly kind: 'settlement'; readonly size: number }
  | { readonly kind: 'spend'; readonly circuit: SpendCircuit };

export type ProofCheck = {
  /** Runs before the long checks. @throws PoolError `size_unsupported` (400) */
  assertSupported(proven: Proven): void;
  /**
   * @throws PoolError `proof_invalid`, `size_unsupported` (400), `verifier_unavailable` (503,
   *   retryable)
   */
  assertProof(proven: Proven, inputs: ProofInputs, proof: SolidityProof): Promise<void>;
};

export function createProofCheck(
  verifier: Pick<ProofVerifier, 'verify'>,
  keys: VerificationKeys,
): ProofCheck {
  function keyFor(proven: Proven) {
    const key = keys.get(proven.kind === 'spend' ? proven.circuit : `fund-${proven.size}`);
    if (key === undefined) {
      // Not retryable: an agent that tries again would delay the other batches of its funder.
      throw proven.kind === 'spend'
        ? new PoolError(
            'size_unsupported',
            `spend refused: this platform has no verification key for ${proven.circuit}; its operator must add one`,
          )
        : new PoolError(
            'size_unsupported',
            `settlement refused: this platform has no verification key for batches of ${proven.size} slots; its operator must add one`,
          );
    }
    return key;
  }

  return {
    assertSupported(proven) {
      keyFor(proven);
    },
    async assertProof(proven, { digest, z, y }, proof) {
      const signals = [digest, z, y].map(String);
      const isValid = await verifier
        .verify(keyFor(proven), signals, fromSolidityProof(proof))
        .catch((cause: unknown) => {
          throw unavailable(describe(cause), cause);
        });
      if (!isValid) {
        throw new PoolError(
          'proof_invalid',
          `${proven.kind} refused: the proof is not valid for it under this platform’s keys; ` +
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
