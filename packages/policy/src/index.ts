/**
 * What may be signed: typed requests and their digests, the rebuild of a batch or a spend from its manifest file, and the checks
 * that a signer makes before it signs. The enclave and the approve process share it.
 *
 * @module
 */

export { computeDifference, differs } from './decide/check-clock.ts';
export { decide } from './decide/decide.ts';
export { decideIntake, type IntakeInput } from './decide/decide-intake.ts';
export type {
  DecideInput,
  Decision,
  DecisionRecord,
  Origin,
  RuleResult,
} from './decide/decision.ts';
export {
  type BatchQuestion,
  deadMarginSeconds,
  type FactQuestions,
  listFactQuestions,
} from './decide/fact-questions.ts';
export type { ClockWitness, Facts } from './decide/facts.ts';
export { type AcceptedLoss, acceptLoss } from './decide/loss-statement.ts';
export {
  type DecisionReason,
  decisionReasons,
  listDecisionReasons,
  type PolicyReason,
} from './decide/reasons.ts';
export {
  computeReleaseText,
  countReleases,
  type Denial,
  parseReleaseText,
  type ReleaseContent,
  releaseSchema,
  signRelease,
  verifyRelease,
} from './decide/release.ts';
export {
  computeBatchGuardId,
  computeCountScope,
  computeDay,
  computeGuardDigest,
  computeGuardId,
  computePayeeKey,
  type GuardContext,
} from './guard/guard-id.ts';
export { createSignedHistory, type SignedRequest } from './guard/signed-history.ts';
export { parseHistory, serializeHistory } from './ledger/history-file.ts';
export type {
  AuditEntry,
  AuditVerdict,
  IntakeResult,
  IntakeVerdict,
  Ledger,
  LedgerHistory,
  LedgerStatus,
  PolicyStore,
  PolicyText,
  Question,
  Vote,
  Voted,
  WaitingRequest,
} from './ledger/ledger.ts';
export type {
  CountEntry,
  EvidencePin,
  GuardEntry,
  LedgerView,
  NullifierEntry,
  Release,
  RosterEntry,
  RosterRelease,
  StoredManifest,
} from './ledger/ledger-view.ts';
export { type LedgerOptions, openLedger } from './ledger/open-ledger.ts';
export { viewAsStored } from './ledger/view-as-stored.ts';
export type { LedgerFaultPoint } from './ledger/votes.ts';
export type { HolderRule } from './policy/holder-rule.ts';
export { lintPolicy, type PolicyFinding } from './policy/lint-policy.ts';
export {
  type AppliedPolicy,
  computePolicyChangeText,
  countRequiredPeople,
  listPolicySigners,
  type PolicyChange,
  type PolicySignature,
  parseAppliedPolicy,
  parsePolicyChangeText,
  signPolicyChange,
} from './policy/policy-change.ts';
export {
  type Policy,
  type PolicyPerson,
  parsePolicy,
  policySchema,
  type TokenRule,
  type Weekday,
  type WorkingHours,
} from './policy/policy-schema.ts';
export { describeAmount, findTokenUnit, type TokenUnit } from './policy/token-unit.ts';
export { type Rebuild, rebuildManifest, stepRebuildManifest } from './rebuild/rebuild-manifest.ts';
export type {
  RebuiltFund,
  RebuiltManifest,
  RebuiltPayee,
  RebuiltSpend,
} from './rebuild/rebuilt.ts';
export { findRefusal, type SignerAllow } from './requests/find-refusal.ts';
export type { RefusalReason } from './requests/refusal-reason.ts';
export {
  computeExternalId,
  computeRequestDigest,
  computeRequestExternalId,
  createSignRequest,
  readDisclosureStatement,
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
  type ReadApproval,
  readApproval,
} from './requests/token-approval.ts';
