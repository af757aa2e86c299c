/**
 * Pool's contracts for TypeScript: deployment, typed connections, events, decoded reverts and reads of an EVM chain.
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
export { askChain, waitAtMost } from './chain/ask-chain.ts';
export { isEvmFailure } from './chain/evm-failure.ts';
export {
  assertChainId,
  type ChainCall,
  createChainCall,
  createEvmProvider,
} from './chain/evm-provider.ts';
export { type FinalBlock, fetchFinalBlock } from './chain/final-block.ts';
export { type BroadcastOutcome, broadcastTransaction, isOutOfGas } from './chain/node-answer.ts';
export type { FundedBatch, LandedSpend, PoolLeaf } from './chain/pool-leaves.ts';
export { createPoolReader, type PoolReader } from './chain/pool-reader.ts';
export {
  fetchNonceOutcome,
  fetchReceipt,
  isFinal,
  type NonceOutcome,
  type NonceReads,
  type Receipt,
} from './chain/receipt.ts';
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
export { type AskedFees, decideFees, fetchFees } from './sender/asked-fees.ts';
export {
  computeFundGasCeiling,
  computeSpendGasCeiling,
  publishGasCeiling,
  voidGasCeiling,
} from './sender/gas-ceilings.ts';
export {
  type Call,
  type CallWithGas,
  describeGasCeiling,
  estimateGasLimit,
  fetchGasCeiling,
} from './sender/gas-estimate.ts';
export { isReplacementDue, raiseFeesWithin } from './sender/replacement.ts';
export {
  createTransactionSigner,
  type RelayerFunds,
  type SignedTransaction,
  signWithinCap,
  type TransactionCaps,
} from './sender/transaction-signer.ts';
