/**
 * The disbursement pipeline over ports: checks, proof, authorisation, settlement and its outcome.
 *
 * @module
 */

export { findChainDifferences } from './adapters/chain-differences.ts';
export { createEvmChain, type EvmChain } from './adapters/evm-chain.ts';
export { createEvmHistory, type EvmHistory } from './adapters/evm-history.ts';
export {
  createEvmRecords,
  type EvmRecords,
  type SpendCalldata,
} from './adapters/evm-records.ts';
export { createEvmSpendChain, type EvmSpendChain } from './adapters/evm-spend-chain.ts';
export { createFunder } from './adapters/funder.ts';
export { createProverPort, createSpendProverPort } from './adapters/prover-port.ts';
export { checkDisbursement } from './check/check-disbursement.ts';
export type {
  ChainRoute,
  CheckDeps,
  CheckedDisbursement,
  CheckedRecipient,
  KeyRotation,
} from './check/checks.ts';
export {
  createEvidenceVerifier,
  type EvidenceVerdict,
  type EvidenceVerifier,
} from './check/evidence-verifier.ts';
export {
  type InspectDeps,
  inspectRecipients,
  type RecipientStanding,
} from './check/inspect-recipients.ts';
export {
  describeRelayerTrouble,
  findRelayerOutage,
  type PreflightFinding,
  preflightCodes,
} from './check/preflight.ts';
export {
  createMalformedReport,
  type ValidateDeps,
  type ValidationReport,
  validateDisbursement,
} from './check/validate-disbursement.ts';
export {
  type KeptOpenings,
  openBatch,
  openSpend,
  type PaidBatch,
} from './disclosure/kept-openings.ts';
export { type ComputeQueue, createComputeQueue, createPace } from './give-way.ts';
export type { Movement } from './history/build-history.ts';
export type {
  Clock,
  EvidencePins,
  FinalBlock,
  PinnedEvidence,
  ProvedBatch,
  ProveOptions,
  Receipt,
  WitnessInput,
} from './holder-ports.ts';
export type { NoteUse } from './note-ports.ts';
export type {
  ApprovalTransaction,
  ChainContext,
  ChainPort,
  FundedBatch,
  FunderPort,
  GatePort,
  JobJournal,
  NonceState,
  PaidKey,
  PaidKeys,
  PaidWallet,
  PlatformPort,
  ProverPort,
} from './ports.ts';
export { computeBatchDeadline, defaultBatchDeadlineSeconds } from './run/batch-deadline.ts';
export {
  createFingerprinter,
  type Fingerprinter,
  refuseOtherRequest,
} from './run/body-fingerprint.ts';
export { serializeCancellation } from './run/cancellation.ts';
export { decideSettlement, type SettlementDecision } from './run/decide-settlement.ts';
export { deliveryName, hasNotesOnChain, parseDelivery } from './run/delivery.ts';
export { type ErasurePass, eraseExpired, readPaidBatch } from './run/erase-expired.ts';
export { type FaultPoint, faultPoints } from './run/fault-points.ts';
export { fingerprintRequest } from './run/fingerprint-request.ts';
export { findForeignUse } from './run/foreign-settlement.ts';
export { InterruptedRunError } from './run/interrupted-run.ts';
export {
  type JobEvent,
  type JobRunner,
  type JobRunnerOptions,
  startJobRunner,
} from './run/job-runner.ts';
export { createKeyLock, type KeyLock } from './run/key-lock.ts';
export {
  cancellationName,
  createJobView,
  createRecord,
  type DisbursementRecord,
  deserializeRecord,
  serializeRecord,
} from './run/record.ts';
export type { DisbursementDeps, RunEvent, RunInput } from './run/run.ts';
export { runDisbursement } from './run/run-disbursement.ts';
export { createEvmGasChain, type GasChain } from './self-submit/gas-chain.ts';
export {
  createSelfSubmitter,
  type GasQuote,
  type SelfSubmitter,
  type SelfSubmitterOptions,
} from './self-submit/self-submitter.ts';
export type { SentTransaction, SentTransactions } from './self-submit/sent-transactions.ts';
export { type Consolidator, createConsolidator } from './spend/consolidate.ts';
export { eraseExpiredSpends } from './spend/erase-spends.ts';
export {
  type FollowedSpend,
  type FollowPass,
  followOnce,
  followSpend,
  followSpends,
} from './spend/follow-spends.ts';
export { interruptedSpendCode } from './spend/free-orphan.ts';
export { describeLocked, type LockedNotes, markLocked, sumLocked } from './spend/locked-notes.ts';
export { createOwnChange } from './spend/own-change.ts';
export { createSpender, type SpendCall, type Spender } from './spend/perform-spend.ts';
export {
  type ArchivedSpend,
  deserializeSpend,
  type SpendArchive,
  type SpendCheck,
  type SpendOwner,
  serializeSpend,
} from './spend/spend-archive.ts';
export { defaultSpendDeadlineSeconds, neededGraceSeconds } from './spend/spend-deadline.ts';
export type {
  FollowDeps,
  OrphanRule,
  SpendDeps,
  SpendEvent,
  SpendStage,
} from './spend/spend-deps.ts';
export { type SpendFaultPoint, spendFaultPoints } from './spend/spend-fault-points.ts';
export { createSpendJournal, type SpendJournal } from './spend/spend-journal.ts';
export type {
  HolderNote,
  HolderNotesPort,
  NotePaths,
  NullifierState,
  SpendChainPort,
  SpendContext,
  SpendGatePort,
  SpendHolder,
  SpendPlatformPort,
  SpendProverPort,
  SpendRow,
  SpendSubmission,
  SpentTransaction,
} from './spend/spend-ports.ts';
export { holdsInputs, isOpen, isUnreleased, type SpendState } from './spend/spend-state.ts';
export {
  countSweepable,
  type SweepCounts,
  type SweepStep,
  sweepOnce,
} from './spend/sweep-notes.ts';
export { withdrawSpendRequest } from './spend/withdraw-spend.ts';
export {
  createHolderSync,
  type HolderSync,
  type HolderSyncDeps,
  type ProvableNote,
  rewindStore,
} from './sync/holder-sync.ts';
export type { ImportOutcome, OfferedNote } from './sync/import-notes.ts';
export { archiveNotes } from './sync/own-candidates.ts';
export type { HolderBalance } from './sync/own-notes.ts';
export type {
  ArchivedNote,
  BlockMark,
  DeliveredNote,
  DeliveryPort,
  HistoryLeaf,
  HistoryPort,
  NoteArchive,
  NoteKernels,
  NotePlace,
  NoteStore,
  OwnNote,
  ReceivedNote,
  StoredLeaf,
  StoredSpend,
  SyncIdentity,
  SyncProgress,
} from './sync/ports.ts';
export type { SyncAsset } from './sync/read-deliveries.ts';
export { withinTime } from './within-time.ts';
