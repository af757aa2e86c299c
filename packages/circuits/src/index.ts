/**
 * Pool's circuits: sources, artifacts and keys of the dev setup.
 *
 * @module
 */

export type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
export { createArtifactStore } from './artifacts/artifact-store.ts';
export { readArtifactsManifest } from './artifacts-manifest.ts';
export { openProductionKeys, type ProductionKeys } from './fetch/production-keys.ts';
export { verificationKeys } from './generated/verification-keys.ts';
