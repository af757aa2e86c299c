/**
 * What a batch counts for on its day: its total, and what each recipient gets where the policy limits that. Several batches below every
 * limit of one batch would otherwise pay one recipient the whole day's sum.
 *
 * @module
 */
import { computeCountScope, computeDay, computePayeeScope } from '../history/guard-id.ts';
import type { CountEntry } from '../history/ledger-history.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import { describeAmount, type TokenRule } from '../policy/policy-schema.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import { check, checkLater, type DecideInput, type Finding, pass } from './findings.ts';

// What counts against a daily limit: the sum of the UTC day, and that of the 24 hours before. The day alone would let two days' sums pass
// around midnight. What is dated ahead counts in the second one too.

const dayMs = 86_400_000;

/** The sum of the 24 hours before now. */
export function readRollingSum(ledger: LedgerView, scope: string, nowMs: number): bigint {
  return ledger.sumSince(scope, nowMs - dayMs);
}

/**
 * @param limit.guardId - of what counts once. Undefined: it was not counted
 * @param limit.reason - of the day. The 24 hours are waited for: they pass
 */
export function checkDailyLimit(
  ledger: LedgerView,
  limit: {
    readonly scope: string;
    readonly guardId: string | undefined;
    readonly amount: bigint;
    readonly most: bigint;
    readonly reason: DecisionReason;
    readonly show: (amount: bigint) => string;
    readonly nowMs: number;
  },
): readonly Finding[] {
  const { scope, guardId, most, nowMs, show } = limit;
  const added = guardId !== undefined && ledger.hasCounted(guardId) ? 0n : limit.amount;
  const day = computeDay(nowMs);
  const ofDay = ledger.sumOfDay(scope, day) + added;
  const rolling = readRollingSum(ledger, scope, nowMs) + added;
  return [
    check(
      'limit-per-day',
      ofDay <= most,
      limit.reason,
      `The sum of ${day} would be ${show(ofDay)}, the limit is ${show(most)}.`,
    ),
    checkLater(
      'limit-per-24-hours',
      rolling <= most,
      'rolling-limit',
      `The sum of the last 24 hours would be ${show(rolling)}, the limit is ${show(most)}.`,
    ),
  ];
}

type Day = Pick<DecideInput, 'ledger' | 'nowMs'>;

export function checkDay(
  { ledger, nowMs }: Day,
  manifest: RebuiltFund,
  rule: TokenRule,
  guardId: string,
): readonly Finding[] {
  return [
    ...checkDailyLimit(ledger, {
      scope: computeCountScope(manifest),
      guardId,
      amount: manifest.total,
      most: BigInt(rule.maxPerDay),
      reason: 'day-limit',
      show: (amount) => describeAmount(amount, rule),
      nowMs,
    }),
    checkRecipients({ ledger, nowMs }, manifest, rule, guardId),
  ];
}

/** The first recipient above its limit. A refusal outranks a wait. */
function checkRecipients(
  { ledger, nowMs }: Day,
  manifest: RebuiltFund,
  rule: TokenRule,
  guardId: string,
): Finding {
  const name = 'limit-per-recipient-and-day';
  if (rule.maxPerRecipientPerDay === undefined) {
    return pass(name, 'the policy has no such limit');
  }
  const most = BigInt(rule.maxPerRecipientPerDay);
  const findings = [...sumByRecipient(manifest)].flatMap(([scope, { amount, address }]) =>
    checkDailyLimit(ledger, {
      scope,
      guardId,
      amount,
      most,
      reason: 'recipient-day-limit',
      show: (sum) => describeAmount(sum, rule),
      nowMs,
    }).map((one) => ({ ...one, rule: name, message: `${one.message} Recipient: ${address}.` })),
  );
  return (
    findings.find(({ verdict }) => verdict === 'fail') ??
    findings.find(({ verdict }) => verdict === 'wait') ??
    pass(name)
  );
}

/** A recipient may be listed several times. */
function sumByRecipient(manifest: RebuiltFund) {
  const sums = new Map<string, { readonly address: string; readonly amount: bigint }>();
  for (const { address, amount } of manifest.payees) {
    const scope = computePayeeScope(manifest, address);
    sums.set(scope, { address, amount: (sums.get(scope)?.amount ?? 0n) + amount });
  }
  return sums;
}

/** What the ledger counts for a batch at its first approval. Sums of people are kept only where the policy limits them. */
export function listBatchCounts(
  { nowMs }: Pick<DecideInput, 'nowMs'>,
  manifest: RebuiltFund,
  rule: TokenRule | undefined,
  guardId: string,
): readonly CountEntry[] {
  const common = { guardId, day: computeDay(nowMs), atMs: nowMs };
  const ofRecipients =
    rule?.maxPerRecipientPerDay === undefined ? [] : [...sumByRecipient(manifest)];
  return [
    { ...common, scope: computeCountScope(manifest), amount: manifest.total },
    ...ofRecipients.map(([scope, { amount }]) => ({ ...common, scope, amount })),
  ];
}
