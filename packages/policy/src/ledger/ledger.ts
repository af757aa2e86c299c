/**
 * The durable ledger of a signer or of the approve process: manifests, votes, signing guard, daily sums, evidence pins, releases and
 * the audit log. `openLedger` stores it in one SQLite file.
 *
 * @module
 */
import type { Hex32, ManifestFile } from '@pool/core';
import type { IntakeVerdict } from '../decide/decide-intake.ts';
import type { LedgerHistory } from '../history/ledger-history.ts';
import type { LedgerView, StoredManifest } from '../history/ledger-view.ts';
import type { AcceptedLoss } from '../people/loss-statement.ts';
import type { AppliedPolicy, PolicySignature } from '../people/policy-change.ts';
import type { Release } from '../people/release.ts';
import type { PolicyPerson } from '../policy/policy-schema.ts';
import type { RebuiltManifest } from '../rebuild/rebuilt.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import type { SignKind, SignRequest } from '../requests/requests.ts';
import type { Decision } from '../rules/decision.ts';

/** What is asked, for the vote's own record. */
export type Question = {
  /** The custodian's id of the approval or transaction. A request that has a vote is not decided again. */
  readonly requestId: string;
  /** The custodian's id of the transaction, where a request has an id of its own. */
  readonly transactionId?: string | undefined;
  readonly request: SignRequest;
  /** Of the stored manifest that the request belongs to, for the list of waiting requests. */
  readonly manifestDigest?: Hex32 | undefined;
  readonly nowMs: number;
};

/** A decision that must reach the custodian. It is stored before it is sent. */
export type Vote = {
  /** From 1, in the order of decisions. */
  readonly id: number;
  readonly requestId: string;
  /** Undefined: none was known when it was decided, and none was noted since. */
  readonly transactionId: string | undefined;
  readonly kind: SignKind;
  /** What the guard compares. Undefined: the payload has none, so it was refused. */
  readonly digest: Hex32 | undefined;
  readonly value: 'approve' | 'deny';
  /** Undefined for an approval. */
  readonly reason: DecisionReason | undefined;
  readonly manifestDigest: Hex32 | undefined;
  readonly decidedAtMs: number;
  /** Undefined: it was not sent, as far as is known. */
  readonly sentAtMs: number | undefined;
  /** Undefined: the custodian did not show it yet. It is sent again until it does. */
  readonly seenAtMs: number | undefined;
};

export type Voted =
  /** The decision is stored as a vote. `isRepeated`: the vote was there, and nothing was decided again. */
  | { readonly kind: 'vote'; readonly vote: Vote; readonly isRepeated: boolean }
  | { readonly kind: 'later'; readonly reason: DecisionReason; readonly message: string };

/** A request that has to wait. */
export type WaitingRequest = {
  readonly requestId: string;
  readonly transactionId: string | undefined;
  readonly kind: SignKind;
  readonly manifestDigest: Hex32 | undefined;
  readonly reason: DecisionReason;
  readonly message: string;
  readonly sinceMs: number;
};

export type IntakeResult =
  | { readonly kind: 'stored' | 'known'; readonly manifest: StoredManifest }
  | { readonly kind: 'refused'; readonly reason: DecisionReason; readonly message: string }
  /** Nothing is stored: send the manifest again. */
  | { readonly kind: 'later'; readonly reason: DecisionReason; readonly message: string };

export type AuditEntry = {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly atMs: number;
  readonly event: string;
  /** JSON object. Confidential. */
  readonly data: string;
  /** SHA-256 over the previous hash and this entry. */
  readonly hash: Hex32;
};

export type AuditVerdict =
  | { readonly kind: 'intact'; readonly entries: number; readonly head: Hex32 }
  | { readonly kind: 'broken'; readonly seq: number; readonly message: string };

export type LedgerStatus = {
  readonly isRestored: boolean;
  /** Why it counts as restored. */
  readonly restoredBecause: string | undefined;
  readonly generation: number;
  readonly manifests: number;
  readonly votes: number;
  readonly openVotes: number;
  readonly waiting: number;
};

/** The bytes of a policy file. */
export type PolicyText = { readonly sha256: string; readonly text: string };

export type PolicyStore = {
  /** The policy in effect. Undefined: no gate has started with this ledger. */
  findApplied(): AppliedPolicy | undefined;
  /** Whether a policy with this digest was proposed or in effect. */
  has(sha256: string): boolean;
  propose(policy: PolicyText, nowMs: number): void;
  listSignatures(sha256: string): readonly PolicySignature[];
  /** Stores a signature. `apply` verifies it. */
  sign(signature: PolicySignature, nowMs: number): void;
  /**
   * Puts a proposed policy in effect.
   * @returns the people who signed it
   * @throws PoolError `policy_not_signed`
   */
  apply(sha256: string, nowMs: number): readonly PolicyPerson[];
  /**
   * Takes the file that the gate reads, if it is in effect, or if the policy in effect asks nobody about its changes.
   * @throws PoolError `policy_not_signed`
   */
  adopt(policy: PolicyText, nowMs: number): void;
};

/**
 * Everything that a gate or an enclave stores. This is the port of another store: one that several hosts share needs a lock for one voter,
 * a number of the voter that each of its writes compares (`ledger_in_use`), and the same immediate transactions.
 */
export type Ledger = {
  readonly policies: PolicyStore;
  /**
   * Stores a manifest that was rebuilt, unless another one has its job and attempt. `judge` decides with a view of the same
   * transaction: pass `decideIntake`.
   */
  storeManifest(
    manifest: RebuiltManifest,
    nowMs: number,
    judge: (view: LedgerView) => IntakeVerdict,
  ): IntakeResult;
  /** The stored manifest that a request belongs to, also when the request asks for something else than the manifest says. */
  findManifestFor(request: SignRequest): StoredManifest | undefined;
  /** A spend by m, for a custodian that shows only the digest. */
  findSpendByDigest(digest: Hex32): StoredManifest | undefined;
  listManifests(): readonly StoredManifest[];
  /** Undefined: none is stored, or it was erased. Secret. */
  readFile(manifestDigest: Hex32): ManifestFile | undefined;
  /**
   * Reads the view, decides and stores the vote with guard, sums and pins, in one immediate transaction. A request that has a vote
   * keeps it.
   */
  decide(question: Question, decide: (view: LedgerView) => Decision): Voted;
  /** Reads within one transaction and stores nothing: for dry runs and `approve check`. */
  read<T>(work: (view: LedgerView) => T): T;
  findVote(requestId: string): Vote | undefined;
  /** Votes on requests that belong to this manifest, oldest first. */
  listVotes(manifestDigest: Hex32): readonly Vote[];
  /** Votes that the custodian did not show yet, oldest first. */
  listOpenVotes(): readonly Vote[];
  listWaiting(): readonly WaitingRequest[];
  /** The transaction of a vote that was stored without one. A vote that has one keeps it. */
  noteTransaction(voteId: number, transactionId: string): void;
  markSent(voteId: number, nowMs: number): void;
  markSeen(voteId: number, nowMs: number): void;
  /** The request ended at the custodian without our vote: it waits no more. */
  dropWaiting(requestId: string, nowMs: number): void;
  /**
   * Stores a release whose signature {@link verifyRelease} accepted, with the roster of its batch.
   * @throws PoolError `manifest_unknown` if no such batch is stored
   */
  addRelease(release: Release, nowMs: number): void;
  exportHistory(): LedgerHistory;
  /** Merges monotonically: nothing that is stored is ever lowered or removed. */
  importHistory(history: LedgerHistory, nowMs: number): void;
  /** What of this history the ledger lacks. If anything is missing, the ledger counts as restored from then on. */
  compareHistory(history: LedgerHistory, nowMs: number): { readonly missing: readonly string[] };
  /**
   * Merges what the chain and the custodian know. Ends the state `restored` if the caller says that nothing is left out.
   * @returns whether it ended
   */
  rebaseline(
    history: LedgerHistory,
    basis: {
      readonly by: string;
      readonly isComplete: boolean;
      /** A person's word about approvals that the caller could not describe: for the audit log. */
      readonly accepted?: AcceptedLoss | undefined;
    },
    nowMs: number,
  ): boolean;
  /**
   * Erases people, amounts and seeds of manifests that arrived before `beforeMs`, and are past their deadline, or were never approved
   * while no request waits for them.
   * @param by - who decided it, for the audit log
   * @returns how many
   */
  eraseManifests(beforeMs: number, nowMs: number, by?: string): number;
  writeAudit(event: string, data: Readonly<Record<string, unknown>>, nowMs: number): void;
  listAudit(afterSeq: number, limit: number): readonly AuditEntry[];
  /** The chain of the log, and the daily sums, whose digests it contains. */
  verifyAudit(): AuditVerdict;
  /** The newest entry. Whoever keeps its hash elsewhere notices later that the end of the log was cut off. */
  findAuditHead(): AuditEntry | undefined;
  status(): LedgerStatus;
  close(): void;
};
