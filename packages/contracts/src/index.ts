/**
 * Pool's contracts for TypeScript: deployment, typed connections, events, decoded reverts and reads of a pool's chain.
 *
 * @module
 */
export { decodeRevert } from './calls/decode-revert.ts';
export {
  connectEligibilityRegistry,
  type EligibilityRegistry,
} from './calls/eligibility-registry.ts';
export { connectErc20, erc20Abi, erc20Interface } from './calls/erc20.ts';
export {
  computeFundGasCeiling,
  computeSpendGasCeiling,
  publishGasCeiling,
  voidGasCeiling,
} from './calls/gas-ceilings.ts';
export {
  type Coordinate,
  connectShieldedPool,
  erc1271Gas,
  type FundBatch,
  type Groth16Proof,
  noPermit,
  type Permit,
  type ShieldedPool,
  type SpendCall,
  shieldedPoolInterface,
} from './calls/shielded-pool.ts';
export { decodeSpend, encodeSpend } from './calls/spend-call.ts';
export {
  deployPoolTestToken,
  deployZeroFirstTestToken,
  mintTestToken,
} from './calls/test-tokens.ts';
export {
  type ContractSignature,
  type ContractVerdict,
  checkContractSignature,
  computeFunderQuestionGas,
  signInQuestionGas,
} from './chain/contract-signature.ts';
export { type FundedBatch, type PoolLeaf, parsePoolEvent } from './chain/pool-leaves.ts';
export { createPoolReader, type PoolReader } from './chain/pool-reader.ts';
export { simulateCall, unknownRevertReason } from './chain/revert-reason.ts';
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
  verifierPlaces,
} from './code/contract-code.ts';
export { deployPool, type PoolAddresses } from './deployment/deploy.ts';
