/**
 * What may be signed: typed requests and their digests, the rebuild of a batch or a spend from its manifest file, and the checks
 * that a signer makes before it signs. The enclave and the approve process share it.
 *
 * @module
 */

export {
  type BatchRelease,
  type BatchReleaseContent,
  computeBatchReleaseText,
  countBatchReleases,
  isBatchReleaseSigned,
  parseBatchReleaseText,
  type ReleasedBatch,
  type ReleaseState,
  signBatchRelease,
  verifyBatchRelease,
} from './batches/batch-release.ts';
export {
  chainEntry,
  type NewReleaseEntry,
  type ReleaseEntry,
  releaseEntrySchema,
  verifyReleaseLog,
} from './batches/release-log.ts';
export {
  assertFitsChains,
  findReleaseNeed,
  listPreparers,
  loopbackCredential,
  type PreparedBatch,
  parseReleasePolicy,
  type ReleaseNeed,
  type ReleasePerson,
  type ReleasePolicy,
} from './batches/release-policy.ts';
export { decide } from './decide/decide.ts';
export { decideIntake } from './decide/decide-intake.ts';
export { computeGuardDigest, computePayeeKey } from './history/guard-id.ts';
export {
  type LedgerHistory,
  parseHistory,
  type RosterEntry,
  serializeHistory,
} from './history/ledger-history.ts';
export type { LedgerView, StoredManifest } from './history/ledger-view.ts';
export { createSignedHistory, type SignedRequest } from './history/signed-history.ts';
export type { AuditVerdict } from './ledger/audit.ts';
export { viewAsStored } from './ledger/manifests.ts';
export { type Ledger, type LedgerStatus, openLedger } from './ledger/open-ledger.ts';
export type { AuditEntry, Vote, WaitingRequest } from './ledger/tables.ts';
export type { Question } from './ledger/votes.ts';
export {
  type AppliedPolicy,
  acceptLoss,
  computePolicyChangeText,
  countRequiredPeople,
  listPolicySigners,
  type PolicyChange,
  type PolicySignature,
  parseAppliedPolicy,
  parsePolicyChangeText,
  signPolicyChange,
} from './people/policy-change.ts';
export {
  computeReleaseText,
  countReleases,
  parseReleaseText,
  type Release,
  type ReleaseContent,
  signRelease,
  verifyRelease,
} from './people/release.ts';
export { type PersonSignature, parsePersonKey } from './people/statement.ts';
export { lintPolicy, type PolicyFinding } from './policy/lint-policy.ts';
export {
  describeAmount,
  findTokenUnit,
  type Policy,
  type PolicyPerson,
  parsePolicy,
  policySchema,
  type TokenUnit,
  type WorkingHours,
} from './policy/policy-schema.ts';
export {
  type Rebuild,
  type RebuiltFund,
  type RebuiltManifest,
  type RebuiltSpend,
  rebuildManifest,
  stepRebuildManifest,
} from './rebuild/rebuild-manifest.ts';
export { findRefusal, type SignerAllow } from './requests/find-refusal.ts';
export {
  type DecisionReason,
  decisionReasons,
  isRefusalReason,
  type RefusalReason,
} from './requests/reasons.ts';
export {
  computeExternalId,
  computeRequestData,
  computeRequestDigest,
  computeRequestExternalId,
  createSignRequest,
  signKinds,
} from './requests/request-digest.ts';
export type {
  ApprovalExpectation,
  DisclosurePayload,
  DisclosureRequest,
  FundAuthorizationPayload,
  FundAuthorizationRequest,
  PermitPayload,
  PermitSignRequest,
  SignInPayload,
  SignInRequest,
  SignKind,
  SignRequest,
  SignRequestContent,
  SpendPayload,
  SpendRequest,
  TokenApprovalPayload,
  TokenApprovalRequest,
  ViewingKeyPayload,
  ViewingKeyRequest,
  VoidPayload,
  VoidRequest,
} from './requests/requests.ts';
export {
  encodeApproveCall,
  encodeSignedTransaction,
  maxApprovalFeeWei,
  maxApprovalGas,
  readApproval,
} from './requests/token-approval.ts';
export { computeDifference, differs } from './rules/check-clock.ts';
export {
  type BatchQuestion,
  deadMarginSeconds,
  type FactQuestions,
  type Facts,
  listFactQuestions,
} from './rules/fact-questions.ts';
export type { DecideInput, Decision, Origin } from './rules/findings.ts';
