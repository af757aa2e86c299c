/**
 * Pool's contracts for TypeScript: deployment, typed connections, events, decoded reverts and reads of a pool's chain.
 *
 * @module
 */
export type { ContractArtifact, LibraryLink } from './artifact.ts';
export { decodeRevert } from './calls/decode-revert.ts';
export {
  connectEligibilityRegistry,
  type EligibilityRegistry,
  type EligibilityRegistryMethods,
  eligibilityRegistryAbi,
} from './calls/eligibility-registry.ts';
export {
  connectErc20,
  type Erc20,
  type Erc20Methods,
  erc20Abi,
  erc20Interface,
  erc20PermitAbi,
} from './calls/erc20.ts';
export {
  computeFundGasCeiling,
  computeSpendGasCeiling,
  publishGasCeiling,
  voidGasCeiling,
} from './calls/gas-ceilings.ts';
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
  type SpendCall,
  shieldedPoolAbi,
  shieldedPoolInterface,
} from './calls/shielded-pool.ts';
export {
  decodeSpend,
  encodeSpend,
  parseSpent,
  type SpendArguments,
  type Spent,
} from './calls/spend-call.ts';
export {
  deployPoolTestToken,
  deployZeroFirstTestToken,
  mintTestToken,
  type TestTokenOptions,
} from './calls/test-tokens.ts';
export type { FundedBatch, LandedSpend, PoolLeaf } from './chain/pool-leaves.ts';
export { createPoolReader, type PoolReader } from './chain/pool-reader.ts';
export { unknownRevertReason } from './chain/revert-reason.ts';
export { type SimulatedCall, type SimulationOutcome, simulateCall } from './chain/simulate-call.ts';
export {
  createPoolComparison,
  findPoolDifference,
  type PoolPlace,
  requirePoolCode,
} from './code/compare-pool.ts';
export {
  listVerifierCodes,
  renderNoteTreeCode,
  renderPoolCode,
  renderRegistryCode,
  renderVerifierCode,
  type VerifierName,
  verifierPlaces,
} from './code/contract-code.ts';
export type { CircuitKeys } from './code/pinned-keys.ts';
export { type DeployPoolOptions, deployPool, type PoolAddresses } from './deployment/deploy.ts';
