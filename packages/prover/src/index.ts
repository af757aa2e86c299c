/**
 * A headless Groth16 prover for any circom circuit over BN254.
 *
 * @module
 */

export type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
export type { AcceleratorDescription } from './accelerator.ts';
export { createProver, type ProverOptions } from './create-prover.ts';
export type { ProverIncident } from './engine/accelerator-record.ts';
export type { AcceleratorChoice } from './engine/engine-keeper.ts';
export { ProverError, type ProverErrorCode } from './errors.ts';
export type { Groth16Proof, ProofResult } from './groth16.ts';
export { createMockProver } from './mock-prover.ts';
export {
  createProofVerifier,
  type ProofVerifier,
  type ProofVerifierOptions,
} from './proof-verifier.ts';
export type {
  ArtifactSource,
  ProofProgress,
  ProofStage,
  ProveRequest,
  Prover,
  ProvingArtifact,
} from './prover.ts';
export {
  type CircuitMetrics,
  type MetricSample,
  type ProverMetrics,
  renderMetricFamily,
  renderProverMetrics,
} from './prover-metrics.ts';
export { fromSolidityProof, type SolidityProof, toSolidityProof } from './solidity-proof.ts';
export { verifyProof } from './verify-proof.ts';
export { readVerificationKey } from './zkey/read-verification-key.ts';
