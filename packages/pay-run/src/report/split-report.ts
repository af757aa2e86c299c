/**
 * The one summary of a pay run in parts, for people and for programs (the agent's README: rosters
 * above the ceiling).
 *
 * @module
 */
import { type DisbursementJob, deriveTraceId, formatTokenUnits } from '@pool/core';
import { describeSkipped, locateSkipped, type SkippedEntry } from '../check/pay-run-echo.ts';
import { exitCodes } from '../exit-codes.ts';
import { isRound } from '../ledger/invited-record.ts';
import { adviseOnUsedKey, hasNoEffect, isUsedElsewhere } from '../ledger/pay-run-find.ts';
import type { PayRunName } from '../ledger/pay-run-ledger.ts';
import { isPaid, type PartOutcome, type SplitOutcome, type Stop } from '../pay/split-pay-run.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';

type PartState = 'paid' | 'reverted' | 'failed' | 'running' | 'not-submitted' | 'unknown';

/** @param isUnseen - the part was sent and the answer was not seen */
export function stateOf(job: DisbursementJob | undefined, isUnseen = false): PartState {
  if (job === undefined) {
    return isUnseen ? 'unknown' : 'not-submitted';
  }
  if (job.state === 'done') {
    return isPaid(job) ? 'paid' : 'reverted';
  }
  return job.state === 'failed' ? 'failed' : 'running';
}

export function exitCodeOfSplit({ parts, stop }: SplitOutcome): number {
  if (stop !== undefined) {
    return stop.exitCode;
  }
  const unpaid = parts.map(({ job }) => stateOf(job)).find((state) => state !== 'paid');
  switch (unpaid) {
    case undefined:
      return sumUp(parts).skipped > 0 ? exitCodes.someUnpaid : exitCodes.ok;
    case 'failed':
      return exitCodes.failed;
    case 'reverted':
      return exitCodes.partial;
    case 'running':
    case 'not-submitted':
    case 'unknown':
      return exitCodes.error;
  }
}

/** The document of `--json`. Amounts are base units, as decimal strings. */
export function createSplitDocument(name: PayRunName, outcome: SplitOutcome): object {
  const { parts, stop } = outcome;
  const { chain, token, payRun } = name;
  const total = sumUp(parts);
  return {
    payRun,
    chain,
    token,
    isRepeat: outcome.isRepeat === true,
    complete: parts.every(({ job }) => stateOf(job) === 'paid'),
    recipients: { total: total.recipients, paid: total.paidRecipients, skipped: total.skipped },
    amount: { total: total.amount.toString(), paid: total.paidAmount.toString() },
    parts: parts.map(({ part, of, key, attempt, entries, job, trace, isUnseen }) => ({
      part,
      of,
      key,
      traceId: deriveTraceId(key),
      attempt,
      state: stateOf(job, isUnseen),
      recipients: entries.length,
      amount: sumAmounts(entries).toString(),
      ...optionalEntry('next', adviseOn(payRun, part, job)),
      ...optionalEntry('job', job),
      ...optionalEntry('skipped', listSkipped(entries, job)),
      ...optionalEntry('timings', trace?.timings),
      ...optionalEntry('prover', trace?.prover),
      ...optionalEntry('settlement', trace?.settlement),
    })),
    ...listStopped(stop),
  };
}

/** In a document of `--json`: as the error of a command that was refused. */
export function listStopped(stop: Stop | undefined): object {
  if (stop === undefined) {
    return {};
  }
  const { code, message, problems } = stop;
  return { stopped: { code, message, problems } };
}

/** @param decimals - of the token */
export function describeSplit(name: PayRunName, outcome: SplitOutcome, decimals: number): string {
  const { parts, stop } = outcome;
  const total = sumUp(parts);
  const paidParts = parts.filter(({ job }) => stateOf(job) === 'paid').length;
  const isUnfinished = parts.some(({ job }) => job === undefined);
  const format = (amount: bigint): string => formatTokenUnits(amount, decimals);
  return [
    ...(outcome.isRepeat === true ? [repeatLine] : []),
    `pay run ${name.payRun}: ${paidParts} of ${parts.length} parts paid, ${total.paidRecipients} of ${total.recipients} recipients, ${format(total.paidAmount)} of ${format(total.amount)} ${name.token}`,
    ...parts.flatMap((part) => describePart(name.payRun, part)),
    ...(stop === undefined ? [] : [`stopped: ${stop.code}: ${stop.message}`]),
    ...(isUnfinished ? ['  run the same command again to continue'] : []),
  ].join('\n');
}

/** For an operator who expected a new payment: there was none. */
export const repeatLine =
  'this run sent nothing: all of it was submitted before under this label, as follows. A new payment needs a new label';

export const skippedLine =
  'the people who were skipped were not paid: when they are enrolled, pay them under a new label';

function describePart(
  payRun: string,
  { part, job, entries, isUnseen }: PartOutcome,
): readonly string[] {
  const head = `part ${part}: ${isUnseen === true ? 'sent, and the answer was not seen' : stateOf(job).replace('-', ' ')}`;
  const advice = adviseOn(payRun, part, job);
  const next = advice === undefined ? [] : [`  ${advice}`];
  if (job?.state === 'failed') {
    return [`${head}: ${job.error?.code ?? 'unknown'}: ${job.error?.message ?? ''}`, ...next];
  }
  const [batch] = job?.result?.batches ?? [];
  if (job?.result === undefined || batch === undefined) {
    return [`${head}, ${entries.length} recipient(s)`, ...next];
  }
  const reason = batch.error === undefined ? '' : `: ${batch.error.code}: ${batch.error.message}`;
  return [
    `${head}: ${batch.recipientCount} recipient(s) in ${batch.txHash}${reason}`,
    ...describeSkipped(locateSkipped(entries, job.result.skipped)).map((line) => `  ${line}`),
    ...(job.result.skipped.length === 0 ? [] : [`  ${skippedLine}`]),
    ...next,
  ];
}

/** What the operator can do about a part. */
function adviseOn(
  payRun: string,
  part: number,
  job: DisbursementJob | undefined,
): string | undefined {
  if (job === undefined) {
    return undefined;
  }
  switch (stateOf(job)) {
    case 'failed':
      return hasNoEffect(job)
        ? `nothing of it was paid: correct the cause, then run the same command ${isRound(payRun) ? 'again' : `with --split --retry ${part}`}`
        : adviseOnUsedKey(job);
    case 'reverted':
      if (isUsedElsewhere(job)) {
        return adviseOnUsedKey(job);
      }
      return `nothing of it was paid, and its key is used up: find the cause, then pay its people under a new label; ${isRound(payRun) ? `"disburse-agent pay-runs show '${payRun.replace(/#.*/, '')}' --json"` : '--dry-run --split --json'} lists them`;
    case 'running':
      return 'the agent continues it: run the same command again to follow it';
    case 'paid':
    case 'not-submitted':
    case 'unknown':
      return undefined;
  }
}

function sumUp(parts: readonly PartOutcome[]): {
  readonly recipients: number;
  readonly amount: bigint;
  readonly paidRecipients: number;
  readonly paidAmount: bigint;
  readonly skipped: number;
} {
  const entries = parts.flatMap((part) => part.entries);
  const paid = parts.flatMap(({ job }) =>
    job !== undefined && isPaid(job) ? (job.result?.notes ?? []) : [],
  );
  return {
    recipients: entries.length,
    amount: sumAmounts(entries),
    paidRecipients: paid.length,
    paidAmount: sumAmounts(paid),
    skipped: parts.reduce((sum, { job }) => sum + (job?.result?.skipped.length ?? 0), 0),
  };
}

/** With their lines in the file. Undefined: none. */
function listSkipped(
  entries: readonly RosterEntry[],
  job: DisbursementJob | undefined,
): readonly SkippedEntry[] | undefined {
  const skipped = locateSkipped(entries, job?.result?.skipped);
  return skipped.length === 0 ? undefined : skipped;
}

function optionalEntry(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
