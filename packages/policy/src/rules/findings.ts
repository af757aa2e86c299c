/**
 * The verdicts of single rules, and the decision that follows from them. Every rule is listed, so that `approve check` can explain a
 * decision rule by rule.
 *
 * @module
 */

import type { Hex32 } from '@pool/core';
import type { GuardEntry, LedgerHistory } from '../history/ledger-history.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { Policy } from '../policy/policy-schema.ts';
import type { RebuiltManifest } from '../rebuild/rebuild-manifest.ts';
import { type DecisionReason, decisionReasons } from '../requests/reasons.ts';
import type { SignRequest } from '../requests/requests.ts';
import type { Facts } from './fact-questions.ts';

// What is decided about a request, and what the ledger must store with an approval.

/** Where a request came from. */
export type Origin =
  /** As the custodian reports it. */
  | {
      readonly kind: 'custodian';
      readonly wallet: string;
      readonly initiator: string;
      /**
       * The custodian's id of a transaction that it builds and sends itself, so that its nonce is unknown before. It takes the
       * place of the account nonce in the guard's id.
       */
      readonly transactionId?: string;
    }
  /** The signer's own process received it. */
  | { readonly kind: 'local' };

export type DecideInput = {
  /** Rebuilt by the transport from the custodian's own preimage, or received by the enclave. */
  readonly request: SignRequest;
  readonly origin: Origin;
  /** The stored manifest that the request belongs to. Undefined: none is stored. */
  readonly manifest: RebuiltManifest | undefined;
  readonly policy: Policy;
  readonly ledger: LedgerView;
  readonly facts: Facts;
  readonly signer: {
    /** The same request always gives the same signature. False for a custodian. */
    readonly deterministic: boolean;
  };
  /** The process's own clock, milliseconds since the epoch. */
  readonly nowMs: number;
};

/** One rule and its verdict, for `approve check`. */
type RuleResult = {
  /** Stable name of the rule, for example `limit-per-batch`. */
  readonly rule: string;
  readonly verdict: 'pass' | 'fail' | 'wait';
  /** What was found. Confidential: may name addresses and amounts. */
  readonly message: string;
};

/** Everything that the ledger stores with an approval, in one transaction. */
export type DecisionRecord = {
  readonly manifestDigest: Hex32 | undefined;
  readonly guard: GuardEntry;
  /** The guard, and what the approval adds. */
  readonly history: LedgerHistory;
};

export type Decision = { readonly rules: readonly RuleResult[] } & (
  | { readonly kind: 'approve'; readonly record: DecisionRecord }
  | {
      /** `deny` is final for this request. `later`: ask again, nothing is voted. */
      readonly kind: 'deny' | 'later';
      readonly reason: DecisionReason;
      /** Names what was found. Confidential. */
      readonly message: string;
    }
);

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

/** Passes if the condition holds, and waits otherwise. */
export function checkLater(
  rule: string,
  isMet: boolean,
  reason: DecisionReason,
  detail?: string,
): Finding {
  return isMet ? pass(rule) : wait(rule, reason, detail);
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
  const rules = findings.map(({ rule, verdict, message }) => ({ rule, verdict, message }));
  const stop =
    findings.find(({ verdict }) => verdict === 'fail') ??
    findings.find(({ verdict }) => verdict === 'wait');
  if (stop !== undefined && stop.verdict !== 'pass') {
    const { verdict, reason, message } = stop;
    return { kind: verdict === 'fail' ? 'deny' : 'later', reason, message, rules };
  }
  if (record === undefined) {
    const reason = 'kind-not-allowed';
    return { kind: 'deny', reason, message: decisionReasons[reason], rules };
  }
  return { kind: 'approve', record, rules };
}
