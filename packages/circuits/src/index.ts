/**
 * Pool's circuits: sources, artifacts and keys of the dev setup.
 *
 * @module
 */

export type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
export {
  type ArtifactStore,
  type ArtifactStoreOptions,
  type CircuitArtifacts,
  createArtifactStore,
  type KeyForm,
} from './artifacts/artifact-store.ts';
export type { BuildOptions, BuildStage } from './artifacts/build-artifacts.ts';
export {
  type ArtifactDigests,
  type ArtifactKind,
  type ArtifactsManifest,
  type ManifestEntry,
  readArtifactsManifest,
} from './artifacts-manifest.ts';
export { parseCircuitName } from './circuits.ts';
export {
  openProductionKeys,
  type ProductionArtifacts,
  type ProductionKeys,
} from './fetch/production-keys.ts';
export { verificationKeys } from './generated/verification-keys.ts';
