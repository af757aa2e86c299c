/**
 * Pays a roster file through an agent, once, whole or in parts (docs/decisions/0008).
 *
 * @module
 */

export {
  type AgentClient,
  type CheckedRequest,
  type JobTrace,
  jobTraceSchema,
} from './agent-port.ts';
export { createRequest, explainMistakes } from './check/check-parts.ts';
export { type Ask, createApproval } from './check/confirm-payment.ts';
export {
  describePayment,
  locateSkipped,
  type PendingPayment,
  summarizePayment,
} from './check/pay-run-echo.ts';
export {
  createRosterError,
  describeProblem,
  locateFinding,
  mergeProblems,
  RosterError,
  type RosterProblem,
} from './check/roster-problems.ts';
export { listPaidInsertions } from './disclose/paid-insertions.ts';
export { exitCodes } from './exit-codes.ts';
export { describeUse, isSent } from './ledger/pay-run-claim.ts';
export { adviseOnUsedKey, findPart, isUsedElsewhere } from './ledger/pay-run-find.ts';
export { computePartKey, computePayRunDigest } from './ledger/pay-run-key.ts';
export { parsePayRun } from './ledger/pay-run-label.ts';
export {
  listAllPayRuns,
  type NamedPayRun,
  openPayRunLedger,
  type PayRunRecord,
  payRunLedgerPath,
} from './ledger/pay-run-ledger.ts';
export { describeSameRoster, findSameRoster } from './ledger/same-roster.ts';
export {
  isAtRisk,
  listDeliveries,
  listEmployersOf,
  listStoredEmployers,
  listStoredKeys,
  type StoredDelivery,
  type StoredKey,
} from './ledger/stored-keys.ts';
export { exitCodeOfError } from './pay/exit-code-of-error.ts';
export { type FollowOptions, followJob, isTerminal, optional } from './pay/follow-job.ts';
export { payWhole, type WholeDeps, type WholeOutcome } from './pay/pay-whole.ts';
export {
  allowanceNote,
  drawBar,
  formatSeconds,
  insufficientAllowanceLine,
  type Terminal,
} from './pay/progress-view.ts';
export { describeSplitDryRun, dryRunSplit } from './pay/split-dry-run.ts';
export { paySplit, type SplitPlan } from './pay/split-pay-run.ts';
export {
  createJobDocument,
  describeJob,
  describeTraceId,
  exitCodeOfJob,
} from './report/job-report.ts';
export {
  createSplitDocument,
  describeSplit,
  exitCodeOfSplit,
  repeatLine,
  stateOf,
} from './report/split-report.ts';
export {
  chooseFormat,
  decideRosterUnit,
  sumAmounts,
  warnOfTokenUnits,
} from './roster/roster-amount.ts';
export { parseRoster, type RosterEntry } from './roster/roster-csv.ts';
export { isStandardInput, readRosterText } from './roster/roster-file.ts';
export { type AmountRules, readTypedAmounts, type TypedAmount } from './roster/typed-amount.ts';
