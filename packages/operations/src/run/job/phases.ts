/**
 * The phases of a disbursement, stored in its record. Every step that depends on how far a job is switches on them.
 *
 *     accepted ──► proved ──► signed ──► released ──► completed | reverted | failed
 *                     └──────────┴────────────┴──► abandoned ──► completed | reverted | failed
 *
 * `abandoned`: the batch is given up, and its authorisation may still land until the chain shows that it is dead. Its signer needs a vote,
 * so the provider has the signature, or may make it later. Or the batch was released, and the platform refuses it for good.
 *
 * A job may end without passing the phases in between: its key may turn out to be paid by another agent, or the job
 * fails. `recovered` replaces `released` where the store was restored from a backup that is older than the signature.
 *
 * @module
 */
import type { PermitWire, SolidityProof } from '@pool/api';
import type { DisbursementResult, ErrorBody, Hex, Hex32 } from '@pool/core';
import { type FaultPointOf, listFaultPoints, type PhaseTable } from '@pool/idempotency/engine';
import type { ApprovalTransaction, FunderRequest } from '../../ports.ts';

/** A verified proof of the batch, and what it was made for. */
export type RecordedProof = {
  readonly eligibilityRoot: Hex32;
  readonly digest: Hex32;
  readonly proof: SolidityProof;
};

/** An approval transaction of this job. Stored signed, before it is sent. */
export type RecordedApproval = {
  /** Decimal base units; `0` takes an approval back. */
  readonly value: string;
  /** Absent: the signer's provider signed and sent it. */
  readonly rawTransaction?: Hex;
  readonly txHash: Hex32;
  /** Of the funder's account. Absent like `rawTransaction`. */
  readonly nonce?: number;
  readonly mined: boolean;
  /** It is in a block, and changed nothing. */
  readonly reverted?: true;
};

/** A request at a signer that needs a vote. Stored before it is sent. */
export type RecordedVote = {
  /** The same for the same content. */
  readonly id: string;
  readonly kind: FunderRequest['kind'];
  /** Absent: no answer has arrived yet. The request may have. */
  readonly providerId?: string;
  /** Last question for it without an answer so far. The provider may show the request only some time after it. */
  readonly askedAtMs?: number;
  /** It was refused, has expired or failed: there is no signature, and there will be none. */
  readonly hasEnded?: true | undefined;
  /** Of a permit: the nonce in it, decimal. */
  readonly permitNonce?: string;
};

/** An approval transaction that is voted on, in the form in which it was asked for. Integers are decimal. */
export type RequestedApproval = {
  readonly [Name in keyof ApprovalTransaction]: ApprovalTransaction[Name] extends bigint
    ? string
    : ApprovalTransaction[Name];
};

/** What the signer of the funder was asked for. */
export type Asked = {
  /** Requests at a signer that needs a vote, oldest first. */
  readonly votes: readonly RecordedVote[];
  /** Why a signer that needs a vote cannot be asked now, or does not answer. */
  readonly outage?: ErrorBody | undefined;
};

/** What the pool may take from the funder, because of this job. */
export type Grant = {
  readonly permit?: { readonly nonce: string; readonly wire: PermitWire };
  /** Newest last. */
  readonly approvals: readonly RecordedApproval[];
  /** The approval that is voted on. */
  readonly approvalRequest?: RequestedApproval | undefined;
};

/** What became of an authorisation that may land. */
export type Landing = {
  /** Unix seconds. The deadline of another authorisation under the same nonce, where it is later. */
  readonly latestDeadline?: number;
  /** A final, reverted transaction that carried the batch. */
  readonly revert?: { readonly txHash: Hex32; readonly error: ErrorBody };
  /** Why the settlement was refused last. Part of the message if the authorisation expires. */
  readonly lastRefusal?: ErrorBody;
  /** A wallet left the eligibility list after the release, so the batch cannot be proved again now. */
  readonly eligibilityLoss?: ErrorBody | undefined;
  /** Why the platform has nothing of this batch out now. */
  readonly refusal?: ErrorBody | undefined;
  /** The funder's withdrawal of the authorisation. */
  readonly voidSignature?: Hex;
};

/** The funder's authorisation of a proved batch. */
type Signed = Asked & Grant & { readonly proved: RecordedProof; readonly signature: Hex };

export type OpenPhase =
  /** Nothing is proved. */
  | { readonly kind: 'accepted' }
  /** The proof is stored. Nothing is signed. */
  | ({ readonly kind: 'proved'; readonly proved: RecordedProof } & Asked)
  /** The funder's authorisation is stored and has not left this process. An allowance may have been given. */
  | ({ readonly kind: 'signed' } & Signed)
  /** The batch is given up, and its authorisation exists or may be made. This agent sends nothing but its withdrawal. */
  | ({
      readonly kind: 'abandoned';
      /** Why. The job ends when the chain shows that the authorisation is dead. */
      readonly cause: ErrorBody;
      readonly proved: RecordedProof;
      /** Absent: it was asked for. */
      readonly signature?: Hex;
      /** Absent: it was not sent. */
      readonly releasedAtMs?: number;
    } & Asked &
      Grant &
      Landing)
  /** The authorisation may have left: only the chain can say that it is dead (protocol §8, "Late landing"). Stored before it leaves. */
  | ({ readonly kind: 'released'; readonly releasedAtMs: number } & Signed & Landing)
  /** As `released`, but this store does not have the signature. Nothing can be sent again. */
  | ({ readonly kind: 'recovered'; readonly releasedAtMs: number } & Asked & Landing);

/** How far the job was when it ended. Absent: retention has erased it. */
type Ended = { readonly before?: OpenPhase };

export type EndPhase =
  /** The chain has paid the key. */
  | ({
      readonly kind: 'completed';
      readonly result: DisbursementResult;
      readonly settlement: {
        readonly txHash: Hex32;
        readonly blockNumber: number;
        /** Decimal; absent if the chain did not answer. */
        readonly gasUsed?: string;
      };
      /** An allowance that the job gave and did not use, and what to do about it. */
      readonly remainder?: string;
    } & Ended)
  /** A transaction with the batch reverted, and the authorisation is dead. Nothing was paid. */
  | ({ readonly kind: 'reverted'; readonly result: DisbursementResult } & Ended)
  /** Nothing of this job is or will be on chain. */
  | ({ readonly kind: 'failed'; readonly error: ErrorBody } & Ended);

export type Phase = OpenPhase | EndPhase;

const asked = { votes: 'must', outage: 'may' } as const;
const grant = { permit: 'may', approvals: 'must', approvalRequest: 'may' } as const;
const landing = {
  latestDeadline: 'may',
  revert: 'may',
  lastRefusal: 'may',
  eligibilityLoss: 'may',
  refusal: 'may',
  voidSignature: 'may',
} as const;
const ending = { before: 'result.before-store', after: 'result.after-store' } as const;

export const disbursementPhases = {
  accepted: {
    next: ['proved', 'recovered', 'completed', 'failed'],
    facts: {},
    stored: {},
    work: [
      ...['started', 'eligibility.entered', 'eligibility.confirmed'],
      ...['allowance.entered', 'allowance.observed', 'proving.entered'],
      ...['manifest.before-store', 'manifest.after-store'],
    ],
  },
  proved: {
    next: ['signed', 'abandoned', 'recovered', 'completed', 'failed'],
    facts: { proved: 'must', ...asked },
    stored: { before: 'proving.proved', after: 'proving.after-store' },
    work: [
      ...['signing.entered', 'release.before-store', 'release.after-store'],
      ...['vote.before-ask', 'vote.asked', 'vote.after-store', 'vote.withdrawn'],
    ],
  },
  signed: {
    next: ['released', 'abandoned', 'completed', 'failed'],
    facts: { proved: 'must', signature: 'must', ...asked, ...grant },
    stored: { before: 'signing.signed', after: 'signing.after-store' },
    work: [
      ...['approving-allowance.entered', 'permit.signed', 'permit.after-store'],
      ...['approval.signed', 'approval.after-store', 'approval.sent', 'approval.mined'],
      'settling.entered',
    ],
  },
  abandoned: {
    next: ['completed', 'reverted', 'failed'],
    facts: {
      ...{ cause: 'must', proved: 'must', signature: 'may', releasedAtMs: 'may' },
      ...{ ...asked, ...grant, ...landing },
    },
    stored: { after: 'batch.abandoned' },
    work: [],
  },
  released: {
    next: ['abandoned', 'completed', 'reverted', 'failed'],
    facts: {
      ...{ proved: 'must', signature: 'must', releasedAtMs: 'must' },
      ...{ ...asked, ...grant, ...landing },
    },
    stored: { after: 'settling.released' },
    work: [
      ...['settling.posted', 'settling.observed'],
      ...['void.signed', 'void.after-store', 'void.posted'],
    ],
  },
  recovered: {
    next: ['completed', 'reverted', 'failed'],
    facts: { releasedAtMs: 'must', ...asked, ...landing },
    stored: {},
    work: [],
  },
  completed: {
    next: [],
    facts: { result: 'must', settlement: 'must', remainder: 'may', before: 'may' },
    stored: ending,
    work: [],
  },
  reverted: {
    next: [],
    facts: { result: 'must', before: 'may' },
    stored: ending,
    work: [],
  },
  failed: {
    next: [],
    facts: { error: 'must', before: 'may' },
    stored: ending,
    work: [],
  },
} as const satisfies PhaseTable<Phase>;

/** Every place where a crash could matter, in the order of a run. `DisbursementDeps.onFaultPoint` is called at each of them. */
export const faultPoints = listFaultPoints(disbursementPhases);

export type FaultPoint = FaultPointOf<typeof disbursementPhases>;

export function hasEnded(phase: Phase): phase is EndPhase {
  return disbursementPhases[phase.kind].next.length === 0;
}

/** True once the authorisation may be outside this process and the job has not ended. */
export function hasLeft({ kind }: Phase): boolean {
  return kind === 'released' || kind === 'recovered' || kind === 'abandoned';
}
