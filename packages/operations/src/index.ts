/**
 * The disbursement pipeline over ports: checks, proof, authorisation, settlement and its outcome.
 *
 * @module
 */

export { computeBatchDeadline, defaultBatchDeadlineSeconds } from './batch-deadline.ts';
export { createFingerprinter, type Fingerprinter, refuseOtherRequest } from './body-fingerprint.ts';
export { serializeCancellation } from './cancellation.ts';
export { checkDisbursement } from './check-disbursement.ts';
export type {
  ChainRoute,
  CheckDeps,
  CheckedDisbursement,
  CheckedRecipient,
  KeyRotation,
} from './checks.ts';
export { decideSettlement, type SettlementDecision } from './decide-settlement.ts';
export { deliveryName, hasNotesOnChain, parseDelivery } from './delivery.ts';
export { type ErasurePass, eraseExpired } from './erase-expired.ts';
export {
  createEvidenceVerifier,
  type EvidenceVerdict,
  type EvidenceVerifier,
} from './evidence-verifier.ts';
export { createEvmChain, type EvmChain } from './evm-chain.ts';
export { type FaultPoint, faultPoints } from './fault-points.ts';
export { fingerprintRequest } from './fingerprint-request.ts';
export { findForeignUse } from './foreign-settlement.ts';
export { createFunder } from './funder.ts';
export { createPace } from './give-way.ts';
export {
  type InspectDeps,
  inspectRecipients,
  type RecipientStanding,
} from './inspect-recipients.ts';
export { InterruptedRunError } from './interrupted-run.ts';
export {
  type JobEvent,
  type JobRunner,
  type JobRunnerOptions,
  startJobRunner,
} from './job-runner.ts';
export { createKeyLock, type KeyLock } from './key-lock.ts';
export type {
  ApprovalTransaction,
  ChainContext,
  ChainPort,
  Clock,
  EvidencePins,
  FinalBlock,
  FundedBatch,
  FunderPort,
  GatePort,
  JobJournal,
  NonceState,
  PaidKey,
  PaidKeys,
  PaidWallet,
  PinnedEvidence,
  PlatformPort,
  ProvedBatch,
  ProveOptions,
  ProverPort,
  Receipt,
  WitnessInput,
} from './ports.ts';
export {
  describeRelayerTrouble,
  findRelayerOutage,
  type PreflightFinding,
  preflightCodes,
} from './preflight.ts';
export { createProverPort } from './prover-port.ts';
export {
  cancellationName,
  createJobView,
  createRecord,
  type DisbursementRecord,
  deserializeRecord,
  serializeRecord,
} from './record.ts';
export type { DisbursementDeps, RunEvent, RunInput } from './run.ts';
export { runDisbursement } from './run-disbursement.ts';
export {
  createMalformedReport,
  type ValidateDeps,
  type ValidationReport,
  validateDisbursement,
} from './validate-disbursement.ts';
export { withinTime } from './within-time.ts';
