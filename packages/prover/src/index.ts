/**
 * A headless Groth16 prover for any circom circuit over BN254.
 *
 * @module
 */

export type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
export { ProverError, type ProverErrorCode } from './base/errors.ts';
export type { FileInput } from './base/file-input.ts';
export type {
  ArtifactSource,
  Groth16Proof,
  LoadRequest,
  ProofProgress,
  ProofResult,
  ProofStage,
  ProveRequest,
  Prover,
  ProvingArtifact,
} from './base/prover.ts';
export type { AcceleratorDescription } from './base/prover-metrics.ts';
export {
  type CircuitMetrics,
  type MetricSample,
  type ProverMetrics,
  renderMetricFamily,
  renderProverMetrics,
} from './base/prover-metrics.ts';
export { createProver, type ProverOptions } from './create-prover.ts';
export type { ProverIncident } from './engine/accelerator-record.ts';
export type { AcceleratorChoice } from './engine/engine-keeper.ts';
export { createMockProver } from './proof/mock-prover.ts';
export {
  createProofVerifier,
  type ProofVerifier,
  type ProofVerifierOptions,
} from './proof/proof-verifier.ts';
export { fromSolidityProof, type SolidityProof, toSolidityProof } from './proof/solidity-proof.ts';
export { verifyProof } from './proof/verify-proof.ts';
export { readVerificationKey } from './zkey/open-zkey.ts';
