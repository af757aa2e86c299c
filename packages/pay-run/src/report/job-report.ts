/**
 * The outcome of a roster that was paid in one call, for people and for programs.
 *
 * @module
 */
import { type DisbursementJob, deriveTraceId } from '@pool/core';
import { describeSkipped, locateSkipped } from '../check/pay-run-echo.ts';
import { exitCodes } from '../exit-codes.ts';
import { adviseOnUsedKey, hasNoEffect, isUsedElsewhere } from '../ledger/pay-run-find.ts';
import { allowanceNote, formatSeconds, insufficientAllowanceLine } from '../pay/progress-view.ts';
import type { JobTrace } from '../ports.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import { skippedLine } from './split-report.ts';

/** The document of `--json`. @param entries - of the roster: they give the lines of skipped recipients */
export function createJobDocument(
  job: DisbursementJob,
  trace: JobTrace | undefined,
  entries: readonly RosterEntry[],
): object {
  const skipped = locateSkipped(entries, job.result?.skipped);
  const traceId = deriveTraceId(job.key);
  return { job, traceId, ...pickTrace(trace), ...(skipped.length === 0 ? {} : { skipped }) };
}

function pickTrace(trace: JobTrace | undefined): Partial<JobTrace> {
  if (trace === undefined) {
    return {};
  }
  const { timings, prover, remainder, settlement } = trace;
  return {
    timings,
    prover,
    ...(remainder === undefined ? {} : { remainder }),
    ...(settlement === undefined ? {} : { settlement }),
  };
}

/** @param entries - of the roster: they give the lines of skipped recipients */
export function describeJob(
  job: DisbursementJob,
  trace: JobTrace | undefined,
  entries: readonly RosterEntry[],
  isTty: boolean,
): string {
  const lines: string[] = [];
  if (job.state === 'failed') {
    lines.push(`failed: ${job.error?.code ?? 'unknown'}: ${job.error?.message ?? ''}`);
    if (hasNoEffect(job)) {
      lines.push('nothing was paid: correct the cause, then run again with --split --retry 1');
    } else {
      lines.push(adviseOnUsedKey(job));
    }
  }
  const { result } = job;
  if (result !== undefined) {
    const [batch] = result.batches;
    lines.push(`${result.status}: ${batch?.recipientCount ?? 0} recipient(s) in ${batch?.txHash}`);
    if (batch?.error !== undefined && isUsedElsewhere(job)) {
      lines.push(`this transaction reverted: ${batch.error.code}: ${batch.error.message}`);
      lines.push(adviseOnUsedKey(job));
    } else if (batch?.error !== undefined) {
      lines.push(`nothing was paid: ${batch.error.code}: ${batch.error.message}`);
      lines.push('its key is used up: find the cause, then pay under a new label');
    }
    lines.push(...describeSkipped(locateSkipped(entries, result.skipped)));
    if (result.skipped.length > 0) {
      lines.push(skippedLine);
    }
    // On a terminal the line was printed when the check happened.
    if (result.allowance.state === 'insufficient' && !isTty) {
      lines.push(insufficientAllowanceLine, allowanceNote);
    }
  }
  if (trace?.remainder !== undefined) {
    lines.push(`warning: ${trace.remainder}`);
  }
  const seconds = (trace?.timings ?? []).map(
    (timing) => `${timing.stage} ${formatSeconds(timing.seconds)}`,
  );
  lines.push(`key: ${job.key}`, describeTraceId(job.key));
  if (seconds.length > 0) {
    lines.push(`time: ${seconds.join(', ')}`);
  }
  if (trace?.settlement?.gasUsed !== undefined) {
    lines.push(`gas used: ${trace.settlement.gasUsed}`);
  }
  return lines.join('\n');
}

/** The id that every log line of agent and platform about this key has. */
export function describeTraceId(key: string): string {
  return `trace id in all logs: ${deriveTraceId(key)}`;
}

export function exitCodeOfJob(job: DisbursementJob): number {
  if (job.state === 'failed') {
    return exitCodes.failed;
  }
  if (job.result?.status === 'partial') {
    return exitCodes.partial;
  }
  return (job.result?.skipped.length ?? 0) > 0 ? exitCodes.someUnpaid : exitCodes.ok;
}
