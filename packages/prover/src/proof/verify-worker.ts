/**
 * Thread that verifies proofs. This takes tens of milliseconds, in which the caller's thread stays free.
 *
 * @module
 */
import type { VerificationKey } from '@pool/kernels';
import type { Groth16Proof } from '../base/prover.ts';
import { serveCalls } from '../base/serve-calls.ts';
import { verifyProof } from './verify-proof.ts';

export type VerifyRequest = {
  readonly verificationKey: VerificationKey;
  readonly publicSignals: readonly string[];
  readonly proof: Groth16Proof;
};

serveCalls(({ verificationKey, publicSignals, proof }: VerifyRequest) => ({
  result: verifyProof(verificationKey, publicSignals, proof),
}));
