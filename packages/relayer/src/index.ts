/**
 * The relayer: it checks and stores settlements and spends, sends them to the pools, and indexes what the pools hold.
 *
 * @module
 */

export type { ContractVerdict } from '@pool/contracts';
export { type AcceptDeps, acceptSettlement } from './accept/accept-settlement.ts';
export {
  type AcceptSpendDeps,
  acceptSpend,
  assertSpenderAdmitted,
  type Holder,
  isAdmitted,
} from './accept/accept-spend.ts';
export { acceptVoid } from './accept/accept-void.ts';
export { redeliverNotes } from './accept/redeliver-notes.ts';
export { isCustomer } from './budget/gas-budget.ts';
export {
  authorisationSeconds,
  defaultEmployerDailyGas,
  defaultHolderDailyGas,
  defaultSelfEnrolledDailyGas,
  defaultSpendsDailyGas,
  type SettlementLimits,
  type SpendLimits,
  spendSeconds,
} from './budget/limits.ts';
export { defaultDailyWei, type RelayerTotal } from './budget/relayer-total.ts';
export { createChainDoor } from './chain/chain-door.ts';
export { createEvmPoolChain, type PoolChain } from './chain/pool-chain.ts';
export { createBatchChecker } from './checks/batch-checker.ts';
export { createProofCheck, type KeyFolder, loadVerificationKeys } from './checks/check-proof.ts';
export { createSettlementChecks, type SettlementChecks } from './checks/settlement-checks.ts';
export {
  assertIndexedPool,
  createHaltWatch,
  createIndexer,
  haltMovedChain,
  resumeIndexer,
} from './indexer/indexer.ts';
export { createEraser } from './send/erase-dead-notes.ts';
export { createRelayer } from './send/relayer.ts';
export {
  createRelayerWatch,
  joinRelayerWatches,
  type RelayerWatch,
} from './send/relayer-health.ts';
export { type ChangingCaps, createRelayerReload, type RelayerReload } from './send/reload.ts';
export { type BatchPages, createBatchPages } from './served/batch-pages.ts';
export { countLeaves, selectCursor, waitUntilIndexed } from './served/served-batches.ts';
export { createNotePaths } from './served/served-note-paths.ts';
export { listServedNotes } from './served/served-notes.ts';
export { describeSettlement } from './store/settlement-store.ts';
export { describeSpend } from './store/spend-store.ts';
export {
  findSubmission,
  isUnfinished,
  parseSpend,
  type SubmissionRow,
} from './store/submissions.ts';
