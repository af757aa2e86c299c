/**
 * `disburse-agent disburse --dry-run`: the agent's checks in this process, and a summary of the payment. It needs no
 * running agent, makes no proof, and sends only read requests.
 *
 * @module
 */
import { type ErrorBody, formatTokenAmount, type TokenUnit } from '@pool/core';
import type { ValidationReport } from '@pool/operations';
import {
  checkParts,
  createRequest,
  describeIssue,
  isFinding,
  type PartIssue,
} from '../check/check-parts.ts';
import {
  describePayment,
  locateSkipped,
  type PendingPayment,
  type SkippedEntry,
  summarizePayment,
} from '../check/pay-run-echo.ts';
import {
  describeProblem,
  locateFinding,
  mergeProblems,
  type RosterProblem,
} from '../check/roster-problems.ts';
import { exitCodes } from '../exit-codes.ts';
import { describeUse, findSent, isFixed } from '../ledger/pay-run-claim.ts';
import { computePartKey, computePayRunDigest, cutRoster } from '../ledger/pay-run-key.ts';
import type { PayRunRecord } from '../ledger/pay-run-ledger.ts';
import { describeSameRoster, findSameRoster } from '../ledger/same-roster.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import { allowanceNote, insufficientAllowanceLine } from '../pay/progress-view.ts';
import { computePartCount, type SplitPlan } from '../pay/split-pay-run.ts';
import type { CheckedRequest, LocalChecks, Output, Payer } from '../ports.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';

type DryPart = {
  readonly part: number;
  readonly of: number;
  readonly key: string;
  /** Sent to the agent by an earlier run. The agent knows its outcome. */
  readonly submitted: boolean;
  readonly amount: string;
  readonly recipients: readonly RosterEntry[];
};

type SplitDryRun = {
  readonly ok: boolean;
  /** Nothing is wrong with the roster. `ok` is still false if something else prevents the payment now. */
  readonly isPayable: boolean;
  readonly payRun: string;
  readonly parts: readonly DryPart[];
  /** Of the parts that were not submitted yet. */
  readonly issues: readonly PartIssue[];
  /** Of the same parts: what the operator should know and does not prevent the payment. */
  readonly warnings: readonly PartIssue[];
  /** Of the same parts: the recipients who would not be paid. */
  readonly skipped: readonly SkippedEntry[];
};

export async function dryRunSplit(
  plan: SplitPlan,
  deps: {
    readonly record: PayRunRecord | undefined;
    readonly readCeiling: () => number;
    /** Why a key would end unpaid, because it was used under other settings. */
    readonly findForeignUse: (key: string) => Promise<ErrorBody | undefined>;
    readonly validate: (request: ReturnType<typeof createRequest>) => Promise<CheckedRequest>;
  },
): Promise<SplitDryRun> {
  const { payRun, entries } = plan;
  const digest = computePayRunDigest(plan);
  const sent = findSent(deps.record, digest);
  const count = sent?.parts.length ?? computePartCount(entries, deps.readCeiling());
  const parts = cutRoster(entries, count).map((recipients, index): DryPart => {
    const known = sent?.parts[index];
    const part = index + 1;
    return {
      part,
      of: count,
      key: computePartKey({ payRun, digest, part, count, attempt: known?.attempt ?? 1 }),
      submitted: known !== undefined && known.sent !== 'no',
      amount: sumAmounts(recipients).toString(),
      recipients,
    };
  });
  const open = parts.filter(({ submitted }) => !submitted);
  const uses: PartIssue[] = [];
  for (const { part, key } of open) {
    const use = await deps.findForeignUse(key);
    uses.push(...(use === undefined ? [] : [{ part, ...use }]));
  }
  const checked = await checkParts(
    open.map(({ part, recipients }) => ({
      part,
      entries: recipients,
      request: createRequest(plan, recipients, plan.unregistered),
    })),
    deps.validate,
  );
  const { warnings, skipped } = checked;
  const issues = [...uses, ...checked.issues];
  const isPayable = issues.every(isFinding);
  return { ok: issues.length === 0, isPayable, payRun, parts, issues, warnings, skipped };
}

export function describeSplitDryRun(
  { parts, issues, warnings }: SplitDryRun,
  unit: TokenUnit,
): readonly string[] {
  return [
    issues.length === 0
      ? 'dry run: every part that was not submitted yet would go through'
      : 'dry run: nothing would be submitted',
    ...parts.map(
      ({ part, of, key, submitted, amount, recipients }) =>
        `part ${part} of ${of}: ${recipients.length} recipient(s), ${formatTokenAmount(BigInt(amount), unit)}, key ${key}${submitted ? ', submitted before' : ''}`,
    ),
    ...issues.map(describeIssue),
    ...warnings.map((warning) => `warning: ${describeIssue(warning)}`),
  ];
}

export type DryRunOptions = {
  readonly json?: boolean;
  readonly split?: boolean;
  /** Of the token. */
  readonly decimals: number;
  /** Further entries of the document of `--json`. */
  readonly beside?: object;
};

/** @returns the exit code that the payment would have, as far as the checks can predict it */
export async function runDry(
  { ledger: place, withChecks }: Pick<Payer, 'ledger' | 'withChecks'>,
  plan: SplitPlan,
  options: DryRunOptions,
  output: Output,
): Promise<number> {
  const ledger = await listAllPayRuns(place);
  const known = ledger.find(
    ({ chain, token, payRun, record }) =>
      chain === plan.chain && token === plan.token && payRun === plan.payRun && isFixed(record),
  );
  const finding = await withChecks((checks) =>
    options.split === true
      ? dryRunParts(checks, plan, known?.record, options)
      : dryRunWhole(checks, plan, options),
  );
  const same = known === undefined ? findSameRoster(ledger, plan, Date.now()) : [];
  output.out(
    options.json === true
      ? { ...finding.document, ...summarizeSame(same), ...options.beside }
      : [...finding.lines, ...same.map(describeSameRoster)].join('\n'),
  );
  // After the report: a label that was already used must not hide the problems of the roster.
  const use = describeUse(known?.record, computePayRunDigest(plan), options.split === true);
  if (use !== undefined && options.json !== true) {
    output.out(use);
  }
  return finding.exitCode;
}

type Finding = {
  readonly exitCode: number;
  readonly lines: readonly string[];
  /** The document of `--json`. */
  readonly document: object;
};

async function dryRunWhole(
  checks: LocalChecks,
  plan: SplitPlan,
  { decimals }: DryRunOptions,
): Promise<Finding> {
  const { entries } = plan;
  const request = createRequest(plan, entries, plan.unregistered);
  const key = computePartKey({
    ...{ payRun: plan.payRun, digest: computePayRunDigest(plan) },
    ...{ part: 1, count: 1, attempt: 1 },
  });
  const checked = await checks.validate(request);
  const use = await checks.findForeignUse(plan.chain, key);
  const report = { ...checked, ok: checked.ok && use === undefined };
  const problems = [
    ...(use === undefined ? [] : [use]),
    ...mergeProblems(entries, [], report.issues),
  ];
  const skipped = locateSkipped(entries, report.skipped);
  const payment: PendingPayment = { ...plan, skipped, parts: 1 };
  return {
    exitCode: decideExitCode(
      report.issues.length > 0 || use !== undefined,
      report.ok,
      skipped.length > 0,
    ),
    lines: [...describeReport(report, problems, entries), ...describePayment(payment, decimals)],
    document: {
      ...report,
      problems,
      ...(skipped.length === 0 ? {} : { skipped }),
      payment: summarizePayment(payment, decimals),
    },
  };
}

async function dryRunParts(
  checks: LocalChecks,
  plan: SplitPlan,
  record: PayRunRecord | undefined,
  { decimals }: DryRunOptions,
): Promise<Finding> {
  const report = await dryRunSplit(plan, {
    record,
    validate: (request) => checks.validate(request),
    readCeiling: () => checks.readCeiling(plan.chain),
    findForeignUse: (key) => checks.findForeignUse(plan.chain, key),
  });
  const open = report.parts.filter(({ submitted }) => !submitted);
  const payment: PendingPayment = {
    ...plan,
    entries: open.flatMap(({ recipients }) => recipients),
    skipped: report.skipped,
    parts: open.length,
  };
  return {
    exitCode: decideExitCode(!report.isPayable, report.ok, report.skipped.length > 0),
    lines: [
      ...describeSplitDryRun(report, { symbol: plan.token, decimals }),
      ...describePayment(payment, decimals),
    ],
    document: { ...report, payment: summarizePayment(payment, decimals) },
  };
}

function decideExitCode(isRefused: boolean, isOk: boolean, hasSkipped: boolean): number {
  if (isRefused) {
    return exitCodes.refused;
  }
  if (!isOk) {
    return exitCodes.notNow;
  }
  return hasSkipped ? exitCodes.someUnpaid : exitCodes.ok;
}

function summarizeSame(same: ReturnType<typeof findSameRoster>): object {
  return same.length === 0
    ? {}
    : {
        sameRoster: same.map(({ label, atMs }) => ({
          payRun: label,
          at: new Date(atMs).toISOString(),
        })),
      };
}

function describeReport(
  report: ValidationReport,
  problems: readonly RosterProblem[],
  entries: readonly RosterEntry[],
): readonly string[] {
  const allowance =
    report.allowanceState === 'insufficient'
      ? [insufficientAllowanceLine, allowanceNote]
      : [`allowance: ${report.allowanceState}`];
  const verdict =
    problems.length > 0
      ? 'dry run: the batch would be refused'
      : 'dry run: the batch would be accepted, but not paid now';
  return [
    report.ok ? 'dry run: the batch would be paid' : verdict,
    ...problems.map(describeProblem),
    ...(report.preflight ?? []).map(
      (finding) =>
        `${finding.severity === 'warning' ? 'warning: ' : ''}${describeProblem(locateFinding(entries, finding))}`,
    ),
    ...allowance,
  ];
}
