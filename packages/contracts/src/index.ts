/**
 * Pool's contracts for TypeScript: deployment, typed connections, events and decoded reverts.
 *
 * @module
 */
export type { ContractArtifact, LibraryLink } from './artifact.ts';
export { decodeRevert } from './decode-revert.ts';
export { type DeployPoolOptions, deployPool, type PoolAddresses } from './deploy.ts';
export {
  connectEligibilityRegistry,
  type EligibilityRegistry,
  type EligibilityRegistryMethods,
  eligibilityRegistryAbi,
} from './eligibility-registry.ts';
export {
  connectErc20,
  type Erc20,
  type Erc20Methods,
  erc20Abi,
  erc20Interface,
  erc20PermitAbi,
} from './erc20.ts';
export {
  type BatchFunded,
  type Coordinate,
  connectShieldedPool,
  erc1271Gas,
  type FundBatch,
  type Groth16Proof,
  noPermit,
  type Permit,
  parseBatchFunded,
  type ShieldedPool,
  type ShieldedPoolMethods,
  shieldedPoolAbi,
  shieldedPoolInterface,
} from './shielded-pool.ts';
export {
  deployPoolTestToken,
  deployZeroFirstTestToken,
  mintTestToken,
  type TestTokenOptions,
} from './test-tokens.ts';
