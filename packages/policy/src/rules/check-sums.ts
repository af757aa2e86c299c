/**
 * What counts against a daily limit: the sum of the UTC day, and that of the 24 hours before. The day alone would let two days' sums pass
 * around midnight. What is dated ahead counts in the second one too.
 *
 * @module
 */
import { computeDay } from '../history/guard-id.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import { check, type Finding, pass, wait } from './findings.ts';

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
    rolling <= most
      ? pass('limit-per-24-hours')
      : wait(
          'limit-per-24-hours',
          'rolling-limit',
          `The sum of the last 24 hours would be ${show(rolling)}, the limit is ${show(most)}.`,
        ),
  ];
}
