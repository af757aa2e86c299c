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

/** Without sums: prepares for proofs under that key, before its sums are computed. */
export type AssembleProofRequest = Assembly | Pick<Assembly, 'points' | 'verificationKey'>;

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

const noSums: ProofSums = {
  a: undefined,
  b1: undefined,
  b2: undefined,
  c: undefined,
};
let isRehearsed = false;

/**
 * The first proof of a thread takes twice as long, because its code is not optimised yet. So that is one beside the witness and the
 * sums. Of a small circuit it may end after them.
 */
function rehearse({ points, verificationKey }: Omit<Assembly, 'sums' | 'publicSignals'>): void {
  prepareVerification(verificationKey);
  if (!isRehearsed) {
    isRehearsed = true;
    const publicSignals = verificationKey.IC.slice(1).map(() => '0');
    assemble({ sums: noSums, points, verificationKey, publicSignals });
  }
}

serveCalls((request: AssembleProofRequest) => {
  if ('sums' in request) {
    return { result: assemble(request) };
  }
  rehearse(request);
  return { result: { proof: undefined } };
});
