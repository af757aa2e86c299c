/**
 * What is decided about a request, and what the ledger must store with an approval.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import type { GuardEntry, LedgerHistory } from '../history/ledger-history.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { Policy } from '../policy/policy-schema.ts';
import type { RebuiltManifest } from '../rebuild/rebuilt.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import type { SignRequest } from '../requests/requests.ts';
import type { Facts } from './fact-questions.ts';

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
export type RuleResult = {
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

export type Decision =
  | {
      readonly kind: 'approve';
      readonly record: DecisionRecord;
      readonly rules: readonly RuleResult[];
    }
  /** Final for this request. */
  | {
      readonly kind: 'deny';
      readonly reason: DecisionReason;
      /** Names what was found. Confidential. */
      readonly message: string;
      readonly rules: readonly RuleResult[];
    }
  /** Ask again: nothing is voted. */
  | {
      readonly kind: 'later';
      readonly reason: DecisionReason;
      readonly message: string;
      readonly rules: readonly RuleResult[];
    };
