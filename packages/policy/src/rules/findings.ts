/**
 * The verdicts of single rules, and the decision that follows from them. Every rule is listed, so that `approve check` can explain a
 * decision rule by rule.
 *
 * @module
 */

import { type DecisionReason, decisionReasons } from '../requests/reasons.ts';
import type { Decision, DecisionRecord, RuleResult } from './decision.ts';

/** What one rule found. */
export type Finding =
  | { readonly rule: string; readonly verdict: 'pass'; readonly message: string }
  | {
      readonly rule: string;
      /** `fail` refuses the request for good. `wait` may pass later. */
      readonly verdict: 'fail' | 'wait';
      readonly reason: DecisionReason;
      readonly message: string;
    };

export function pass(rule: string, message = 'ok'): Finding {
  return { rule, verdict: 'pass', message };
}

export function fail(rule: string, reason: DecisionReason, detail?: string): Finding {
  return { rule, verdict: 'fail', reason, message: explain(reason, detail) };
}

export function wait(rule: string, reason: DecisionReason, detail?: string): Finding {
  return { rule, verdict: 'wait', reason, message: explain(reason, detail) };
}

/** Passes if the condition holds, and refuses otherwise. */
export function check(
  rule: string,
  isMet: boolean,
  reason: DecisionReason,
  detail?: string,
): Finding {
  return isMet ? pass(rule) : fail(rule, reason, detail);
}

function explain(reason: DecisionReason, detail: string | undefined): string {
  const sentence = decisionReasons[reason];
  return detail === undefined ? sentence : `${sentence} ${detail}`;
}

/**
 * The first refusal decides; without one, the first rule that waits; and only if every rule passed, `record` is approved.
 * @param record - undefined: nothing that could be approved was found
 */
export function conclude(
  findings: readonly Finding[],
  record: DecisionRecord | undefined,
): Decision {
  const rules: readonly RuleResult[] = findings.map(({ rule, verdict, message }) => ({
    rule,
    verdict,
    message,
  }));
  const refusal = findings.find((one) => one.verdict === 'fail');
  if (refusal?.verdict === 'fail') {
    return { kind: 'deny', reason: refusal.reason, message: refusal.message, rules };
  }
  const hold = findings.find((one) => one.verdict === 'wait');
  if (hold?.verdict === 'wait') {
    return { kind: 'later', reason: hold.reason, message: hold.message, rules };
  }
  if (record === undefined) {
    return {
      kind: 'deny',
      reason: 'kind-not-allowed',
      message: decisionReasons['kind-not-allowed'],
      rules,
    };
  }
  return { kind: 'approve', record, rules };
}
