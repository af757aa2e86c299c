/**
 * `disburse --dry-run --split`: the parts, their keys and recipients, and what prevents their payment.
 *
 * @module
 */
import { type ErrorBody, formatTokenAmount, type TokenUnit } from '@pool/core';
import {
  checkParts,
  createRequest,
  describeIssue,
  isFinding,
  type PartIssue,
} from '../check/check-parts.ts';
import type { SkippedEntry } from '../check/pay-run-echo.ts';
import { findSent } from '../ledger/pay-run-claim.ts';
import { computePartKey, computePayRunDigest, cutRoster } from '../ledger/pay-run-key.ts';
import type { PayRunRecord } from '../ledger/pay-run-ledger.ts';
import type { CheckedRequest } from '../ports.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import { computePartCount, type SplitPlan } from './split-pay-run.ts';

export type DryPart = {
  readonly part: number;
  readonly of: number;
  readonly key: string;
  /** Sent to the agent by an earlier run. The agent knows its outcome. */
  readonly submitted: boolean;
  readonly amount: string;
  readonly recipients: readonly RosterEntry[];
};

export type SplitDryRun = {
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
