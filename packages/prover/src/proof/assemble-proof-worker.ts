/**
 * Thread that blinds, assembles and verifies proofs. This takes tens of milliseconds, in which the caller's thread stays free.
 *
 * @module
 */
import type { VerificationKey } from '@pool/kernels';
import { readInteger, scalarFieldOrder } from '../base/field.ts';
import type { Groth16Proof } from '../base/prover.ts';
import { serveCalls } from '../base/serve-calls.ts';
import type { ProofSums } from '../engine/engine.ts';
import { assembleProof, type BlindingPoints } from './assemble-proof.ts';
import { prepareVerification, verifyProof } from './verify-proof.ts';

type Assembly = {
  /** Secret. */
  readonly sums: ProofSums;
  readonly points: BlindingPoints;
  readonly verificationKey: VerificationKey;
  readonly publicSignals: readonly string[];
};

/** Without sums: prepares for proofs under that key, while the sums are computed. */
export type AssembleProofRequest = Assembly | { readonly verificationKey: VerificationKey };

/** `proof` is undefined if it does not verify. */
export type AssembleProofResult = { readonly proof: Groth16Proof | undefined };

/** A scalar that is uniformly random in [1, r). Secret. */
function drawScalar(): bigint {
  for (;;) {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const scalar = readInteger(bytes, 0) & ((1n << 254n) - 1n);
    bytes.fill(0);
    if (scalar > 0n && scalar < scalarFieldOrder) {
      return scalar;
    }
  }
}

function assemble(request: Assembly): AssembleProofResult {
  const { sums, points, verificationKey, publicSignals } = request;
  let proof: Groth16Proof;
  try {
    proof = assembleProof(sums, points, drawScalar(), drawScalar());
  } catch {
    // noble-curves throws for sums that are not points of the curve. The result is as wrong as a proof that does not verify.
    return { proof: undefined };
  }
  return { proof: verifyProof(verificationKey, publicSignals, proof) ? proof : undefined };
}

serveCalls((request: AssembleProofRequest) => {
  if ('sums' in request) {
    return { result: assemble(request) };
  }
  prepareVerification(request.verificationKey);
  return { result: { proof: undefined } };
});
