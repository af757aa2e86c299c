/**
 * Verifies the proof of a settlement or a spend (docs/decisions/0009). It runs in a thread of its own, so no route waits, and before
 * anything is stored or simulated. Without a verdict, nothing is accepted.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { SolidityProof } from '@pool/api';
import {
  openProductionKeys,
  readArtifactsManifest,
  type VerificationKey,
  verificationKeys,
} from '@pool/circuits';
import { type CircuitName, circuitNames, PoolError, type SpendCircuit } from '@pool/core';
import { fromSolidityProof, type ProofVerifier, ProverError } from '@pool/prover';
import type { ProofInputs } from './check-inputs.ts';

// The keys with which the platform verifies proofs, one per circuit. It needs no proving key.

/** Keys of a ceremony, as `openProductionKeys` expects them. */
export type KeyFolder = { readonly folder: string; readonly manifest: string };

/** By the name of the circuit. */
type VerificationKeys = ReadonlyMap<string, VerificationKey>;

/**
 * @param production - the keys of a ceremony; undefined: the development keys
 * @throws PoolError `artifact_refused` for a key that its manifest does not pin, and as `openProductionKeys`
 */
export async function loadVerificationKeys(
  production: KeyFolder | undefined,
): Promise<VerificationKeys> {
  if (production === undefined) {
    return new Map(circuitNames.map((name) => [name, readDevelopmentKey(name)]));
  }
  const keys = openProductionKeys(production);
  return new Map(
    await Promise.all(
      keys.circuits.map(async (name) => [name, await keys.readVerificationKey(name)] as const),
    ),
  );
}

function readDevelopmentKey(name: CircuitName): VerificationKey {
  const key = verificationKeys[name];
  // The digest of the file that the setup writes.
  const digest = createHash('sha256')
    .update(`${JSON.stringify(key, null, 2)}\n`)
    .digest('hex');
  if (digest !== readArtifactsManifest()[name].sha256.verificationKey) {
    throw new PoolError(
      'artifact_refused',
      `the development key of ${name} is not the one that artifacts.json pins; run \`pnpm generate\``,
    );
  }
  return key;
}

/** What a proof is about: a batch of so many slots, or a spend of a circuit. */
export type Proven =
  | { readonly kind: 'settlement'; readonly size: number }
  | { readonly kind: 'spend'; readonly circuit: SpendCircuit };

export type ProofCheck = ReturnType<typeof createProofCheck>;

export function createProofCheck(verifier: Pick<ProofVerifier, 'verify'>, keys: VerificationKeys) {
  function keyFor(proven: Proven): VerificationKey {
    const isSpend = proven.kind === 'spend';
    const key = keys.get(isSpend ? proven.circuit : `fund-${proven.size}`);
    if (key === undefined) {
      // Not retryable: an agent that tries again would delay the other batches of its funder.
      const what = isSpend ? proven.circuit : `batches of ${proven.size} slots`;
      throw new PoolError(
        'size_unsupported',
        `${proven.kind} refused: this platform has no verification key for ${what}; its operator must add one`,
      );
    }
    return key;
  }

  return {
    /** Runs before the long checks. @throws PoolError `size_unsupported` (400) */
    assertSupported(proven: Proven): void {
      keyFor(proven);
    },
    /**
     * @throws PoolError `proof_invalid`, `size_unsupported` (400), `verifier_unavailable` (503,
     *   retryable)
     */
    async assertProof(
      proven: Proven,
      { digest, z, y }: ProofInputs,
      proof: SolidityProof,
    ): Promise<void> {
      const signals = [digest, z, y].map(String);
      const isValid = await verifier
        .verify(keyFor(proven), signals, fromSolidityProof(proof))
        .catch((cause: unknown) => {
          const why = cause instanceof ProverError ? cause.message : 'the proof was not verified';
          throw new PoolError('verifier_unavailable', why, { cause });
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
