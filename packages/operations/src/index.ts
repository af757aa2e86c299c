/**
 * The disbursement pipeline over ports: checks, proof, authorisation, settlement and its outcome.
 *
 * @module
 */

export { createEvmChain, type EvmChain, findKeySource } from './adapters/evm-chain.ts';

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
  type InspectDeps,
  inspectRecipients,
  type RecipientStanding,
} from './check/inspect-recipients.ts';
export {
  type PreflightFinding,
  preflightCodes,
} from './check/preflight.ts';
export {
  createMalformedReport,
  type ValidateDeps,
  type ValidationReport,
  validateDisbursement,
} from './check/validate-disbursement.ts';
export { type RouteDeps, refuseOtherPool, routeChain } from './peers/chains.ts';
export {
  askCustody,
  type CustodyProbe,
  createCustodyProbe,
  custodyKeepMs,
  reportCustody,
} from './peers/custody.ts';
export { createGateSource, type GateConfig, type GateSource } from './peers/gate-source.ts';
export {
  createChainsProbe,
  createPlatformProbe,
  createStoreProbe,
  findOutages,
} from './peers/probes.ts';
export { type PlacedChains, placePublishedChains } from './peers/published-chains.ts';
export {
  createFinding,
  createReadiness,
  describeFailure,
  type Finding,
  type Probe,
  probeTimeoutMs,
  type Readiness,
  type ReadinessCheck,
} from './peers/readiness.ts';
export { refuseOtherPools } from './peers/refuse-other-pools.ts';
export {
  createTenancy,
  employerIdSchema,
  normalizeEmployerId,
  pinFirstEmployer,
  readTenancyPin,
  replacePinnedEmployer,
  type TenancyPin,
  tenancyPinPath,
  withTenancy,
} from './peers/tenancy.ts';
export { startTenant, type Tenant } from './peers/tenant.ts';
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
export {
  assertCounts,
  describeManifest,
  findPreparedBatches,
  listPreparedBatches,
  type PreparedBatchView,
  storeRelease,
} from './prepared/prepared-batches.ts';
export {
  createOwnersDesk,
  listOwnersRequests,
  type OwnersChain,
  type OwnersOffice,
  type OwnersPlace,
  type OwnersSignature,
  type OwnersView,
  storeOwnersSignature,
} from './releases/owners-desk.ts';
export {
  createPaymentWindows,
  type PaymentWindow,
  type PaymentWindows,
  type StoredWindow,
} from './releases/payment-windows.ts';
export { findReleaseLog, openReleaseLog, type ReleaseLog } from './releases/release-log.ts';
export {
  type BatchStanding,
  forecastRelease,
  type PaidBatch,
  type ReleaseDeps,
} from './releases/release-state.ts';
export { defaultBatchDeadlineSeconds, deliveryName, parseDelivery } from './run/batch/batch.ts';
export {
  decideSettlement,
  findForeignUse,
  type SettlementDecision,
} from './run/batch/decide-settlement.ts';
export { type CancelDeps, cancelJob } from './run/cancel-job.ts';
export {
  createFingerprinter,
  type Fingerprinter,
  fingerprintRequest,
  refuseOtherRequest,
} from './run/job/body-fingerprint.ts';
export { ensureFingerprintKey, findFingerprintKey } from './run/job/fingerprint-key.ts';
export { type FaultPoint, faultPoints, hasEnded } from './run/job/phases.ts';
export {
  cancellationName,
  createJobView,
  createRecord,
  type DisbursementRecord,
  deserializeRecord,
  serializeRecord,
} from './run/job/record.ts';
export type { DisbursementDeps, RunEvent, RunInput } from './run/job/run.ts';
export {
  createJobProgress,
  type JobProgress,
  logJobEvent,
  type Progress,
} from './run/job-progress.ts';
export {
  type JobEvent,
  type JobRunnerOptions,
  startJobRunner,
} from './run/job-runner.ts';
export { readPaidBatch, startRetention } from './run/retention.ts';
export { runDisbursement } from './run/run-disbursement.ts';
export { withinTime } from './within-time.ts';
