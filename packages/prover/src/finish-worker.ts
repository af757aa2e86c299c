/**
 * Thread that blinds, assembles and verifies proofs: tens of milliseconds that the caller's thread need not wait.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { assembleProof, type BlindingPoints } from './assemble-proof.ts';
import type { ProofSums } from './engine/engine.ts';
import { scalarFieldOrder } from './field.ts';
import type { Groth16Proof, VerificationKey } from './groth16.ts';
import { verifyProof } from './verify-proof.ts';
import { serveCalls } from './worker-link.ts';

export type FinishRequest = {
  /** Secret. */
  readonly sums: ProofSums;
  readonly points: BlindingPoints;
  readonly verificationKey: VerificationKey;
  readonly publicSignals: readonly string[];
};

/** proof: undefined if it does not verify. */
export type FinishResult = { readonly proof: Groth16Proof | undefined };

/** Uniform below r and not zero. */
function drawScalar(): bigint {
  for (;;) {
    const scalar = BigInt(`0x${randomBytes(32).toString('hex')}`) & ((1n << 254n) - 1n);
    if (scalar > 0n && scalar < scalarFieldOrder) {
      return scalar;
    }
  }
}

function finish(request: FinishRequest): FinishResult {
  const { sums, points, verificationKey, publicSignals } = request;
  let proof: Groth16Proof;
  try {
    proof = assembleProof(sums, points, drawScalar(), drawScalar());
  } catch {
    // Sums that are no points of the curve cannot even be added: as wrong as a proof that does not verify.
    return { proof: undefined };
  }
  return { proof: verifyProof(verificationKey, publicSignals, proof) ? proof : undefined };
}

serveCalls((request: FinishRequest) => ({ result: finish(request) }));
