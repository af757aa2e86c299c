/**
 * Pays a roster file through an agent, once, whole or in parts (docs/decisions/0008).
 *
 * @module
 */

export {
  type AgentCaller,
  createAgentCaller,
  createAgentClient,
  createUnreachable,
  passesByItself,
  urlOf,
} from './agent/agent-client.ts';
export {
  type ArrivalsAnswer,
  createHolderClient,
  type HistoryRange,
  type HolderClient,
} from './agent/holder-client.ts';
export { createJobTrace } from './agent/job-trace.ts';
export { createPortProof, portProofPath } from './agent/port-proof.ts';
export { createProvenFetch } from './agent/proven-fetch.ts';
export {
  type ConsolidateClient,
  commandHeaders,
  computeSpendWaitMs,
  createConsolidateClient,
  createSpendClient,
  type SpendClient,
  type SpendOrder,
} from './agent/spend-client.ts';
export { nameState, type PayRunView } from './books/pay-run-view.ts';
export { listPaymentLines } from './books/payment-lines.ts';
export {
  nameReceipt,
  type ReceiptFile,
  type Receipts,
  type ReceiptsInput,
  renderReceipts,
  writeReceipts,
} from './books/receipts.ts';
export { type JobFilter, selectPayments } from './books/select-payments.ts';
export {
  listStoredPayments,
  type PaymentState,
  type StoredPayment,
} from './books/stored-payments.ts';
export {
  createRequest,
  describeIssue,
  explainMistakes,
  type PartIssue,
} from './check/check-parts.ts';
export { isConfirmed } from './check/confirm-payment.ts';
export { locateSkipped, type SkippedEntry } from './check/pay-run-echo.ts';
export type { RosterProblem } from './check/roster-problems.ts';
export { type CancelOptions, cancelPayment } from './commands/cancel.ts';
export { type DropOptions, dropLine } from './commands/drop.ts';
export { dryRunSplit } from './commands/dry-run.ts';
export { type Books, collectLines, type ExportOptions, exportLines } from './commands/export.ts';
export { type JobsOptions, listJobs, showJob } from './commands/jobs.ts';
export { payPlan } from './commands/pay-plan.ts';
export { type DisburseOptions, payRoster } from './commands/pay-roster.ts';
export {
  formatAmount,
  formatMinute,
  inspectPayRuns,
  listPayRuns,
  type PayRunsOptions,
  showPayRun,
} from './commands/pay-runs.ts';
export { checkRecipients, type RecipientsOptions } from './commands/recipients.ts';
export { type RedeliverOptions, redeliver } from './commands/redeliver.ts';
export { type ResumeOptions, resumePayRun } from './commands/resume.ts';
export {
  type StatementCommand,
  type StatementPorts,
  writeStatement,
} from './commands/statement.ts';
export {
  beginTenancy,
  listTenancyKeys,
  type NewTenancyOptions,
  showTenancy,
  type TenancyPlace,
} from './commands/tenancy.ts';
export { listPaidInsertions } from './disclose/paid-insertions.ts';
export { exitCodeOfError, exitCodes } from './exit-codes.ts';
export { describeUse, isFixed } from './ledger/pay-run-claim.ts';
export { hasNoEffect } from './ledger/pay-run-find.ts';
export { computePartKey, computePayRunDigest } from './ledger/pay-run-key.ts';
export { parsePayRun } from './ledger/pay-run-label.ts';
export { type NamedPayRun, openPayRunLedger, payRunLedgerPath } from './ledger/pay-run-ledger.ts';
export { createLabelFinder } from './ledger/pay-run-of-key.ts';
export { describeSameRoster, findPaidSameRoster } from './ledger/same-roster.ts';
export { listAllPayRuns, openLedger, shareLabels } from './ledger/shared-ledger.ts';
export {
  isAtRisk,
  type JobSummary,
  listDeliveries,
  listEmployersOf,
  listStoredEmployers,
  listStoredKeys,
  type StoredKey,
  summarizeJobs,
} from './ledger/stored-keys.ts';
export { withInterruption } from './pay/follow-job.ts';
export {
  createSpendView,
  createStepView,
  createSyncView,
  withProgress,
} from './pay/holder-progress.ts';
export { drawBar, formatSeconds } from './pay/progress-view.ts';
export type { SplitOutcome, SplitPlan, Stop } from './pay/split-pay-run.ts';
export type {
  AgentClient,
  Ask,
  CheckedRequest,
  Invitations,
  Invitee,
  InviteeState,
  JobTrace,
  LocalChecks,
  Output,
  Payer,
  Terminal,
} from './ports.ts';
export {
  formatOwnersRequests,
  importOwnersSignature,
  listOwners,
  parseOwnersSignature,
} from './release/owners-commands.ts';
export {
  importRelease,
  listReleases,
  makeReleaseKey,
  printLog,
  type ReleasePlace,
  type SignReleaseOptions,
  showRelease,
  signRelease,
  storeWords,
  verifyLog,
} from './release/release-commands.ts';
export { formatRequest, parseAnswer, toRequested } from './release/release-files.ts';
export { type ReleaseSource, readReleaseSource } from './release/release-source.ts';
export { writeNewFile } from './report/new-file.ts';
export { stateOf } from './report/split-report.ts';
export {
  createPerson,
  findPersonProblem,
  keyOfPerson,
  type Person,
  parsePeople,
} from './roster/people-csv.ts';
export { chooseFormat, sumAmounts } from './roster/roster-amount.ts';
export { parseRoster, type Roster, type RosterEntry } from './roster/roster-csv.ts';
export { decodeRoster, isStandardInput, readRosterText } from './roster/roster-file.ts';
export { readFurtherColumns } from './roster/roster-further.ts';
export { rosterTemplate } from './roster/roster-template.ts';
export { type AmountRules, readTypedAmounts, type TypedAmount } from './roster/typed-amount.ts';
export { encodeWrongRows, pickRows } from './roster/wrong-rows.ts';
export { formatInstant } from './schedule/calendar.ts';
export type { ScheduleOptions } from './schedule/definition.ts';
export type { PrepareDeps as ScheduleDeps } from './schedule/prepare.ts';
export {
  addSchedule,
  dryRunSchedule,
  listSchedules,
  type SchedulePlace,
  type Shown,
  showNext,
  showSchedule,
  skipOccurrence,
  switchSchedule,
} from './schedule/schedule-commands.ts';
export {
  createScheduleStore,
  describeDamagedOccurrence,
  describeDamagedSchedule,
  findReason,
  type Occurrence,
  occurrenceScope,
  toOccurrence,
} from './schedule/schedule-store.ts';
export { type ScheduleSummary, summarizeSchedules } from './schedule/schedule-summary.ts';
export { type ScheduleView, type ScheduleViews, viewSchedules } from './schedule/schedule-view.ts';
export { type ScheduleWorker, startSchedules } from './schedule/schedule-worker.ts';
export { createScheduledWindows } from './schedule/scheduled-windows.ts';
