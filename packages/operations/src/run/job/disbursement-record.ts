/**
 * The durable record of one disbursement: everything that a restarted agent needs to continue. Confidential: it holds
 * recipients and amounts. The job store keeps manifest and seed, and later the release record, beside it as values that
 * are written once (`manifestName`, `releaseName`).
 *
 * @module
 */
import type { PermitWire, SolidityProof } from '@pool/api';
import type {
  AllowanceState,
  DisbursementResult,
  ErrorBody,
  Hex,
  Hex32,
  JobStage,
  SkippedRecipient,
} from '@pool/core';
import type { CheckedRecipient } from '../../check/checks.ts';
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
  /** Of a permit: the nonce in it, decimal. Absent in records of earlier versions. */
  readonly permitNonce?: string;
};

/** An approval transaction that is voted on, in the form in which it was asked for. Integers are decimal. */
export type RequestedApproval = {
  readonly [Name in keyof ApprovalTransaction]: ApprovalTransaction[Name] extends bigint
    ? string
    : ApprovalTransaction[Name];
};

/** The stored data of a settlement on other terms (foreign-settlement.ts). */
export type ForeignSettlement = {
  readonly chain: string;
  /** In the platform's spelling. */
  readonly funder: string;
  readonly batchNonce: Hex32;
  /** Unix seconds. */
  readonly deadline: number;
  /** According to the platform. */
  readonly isSettled: boolean;
};

/** What is known about a job. Its phase follows from these facts: {@link phaseOf} in phase.ts. */
export type DisbursementRecord = {
  readonly version: 1;
  readonly employerId: string;
  readonly key: string;
  /** Id of the request that created the job, for the log. */
  readonly requestId?: string;
  readonly chain: string;
  readonly tokenSymbol: string;
  /** SHA-256 of the canonical request body. */
  readonly requestDigest: Hex32;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  readonly stage?: JobStage;
  /** Seconds of work per stage so far, over all runs. */
  readonly stageSeconds: Readonly<Partial<Record<JobStage, number>>>;
  /** The allowance as read before proving. */
  readonly allowanceState?: AllowanceState;
  readonly proved?: RecordedProof;
  /** The funder's authorisation. */
  readonly signature?: Hex;
  readonly permit?: { readonly nonce: string; readonly wire: PermitWire };
  /** Newest last. */
  readonly approvals: readonly RecordedApproval[];
  /** Requests at a signer that needs a vote, oldest first. */
  readonly votes?: readonly RecordedVote[];
  /** Why a signer that needs a vote cannot be asked now, or does not answer. */
  readonly outage?: ErrorBody | undefined;
  /** The approval that is voted on. */
  readonly approvalRequest?: RequestedApproval | undefined;
  /**
   * Why a batch whose authorisation exists, or may be made, is not sent, or not sent again. Its authorisation is withdrawn, and the job
   * ends when the chain shows that it is dead.
   */
  readonly abandoned?: ErrorBody;
  /** Stored before the authorisation first leaves this process. From here the late-landing rule applies. */
  readonly releasedAtMs?: number;
  /** Unix seconds. The deadline of another authorisation under the same nonce, where it is later. */
  readonly latestDeadline?: number;
  /** Settlements of this key on other terms that the platform has shown. */
  readonly foreign?: readonly ForeignSettlement[];
  /** A final, reverted transaction that carried the batch. */
  readonly revert?: { readonly txHash: Hex32; readonly error: ErrorBody };
  /** Why the settlement was refused last. Part of the message if the authorisation expires. */
  readonly lastRefusal?: ErrorBody;
  /** A wallet left the eligibility list after the release, so the batch cannot be proved again now. */
  readonly eligibilityLoss?: ErrorBody | undefined;
  /** Why the platform has nothing of this batch out now. */
  readonly refusal?: ErrorBody | undefined;
  /** Why nothing can be done for the job with the current settings. */
  readonly blocked?: (ErrorBody & { readonly isCancelled: boolean }) | undefined;
  /** The funder's withdrawal of the authorisation. */
  readonly voidSignature?: Hex;
  readonly settlement?: {
    readonly txHash: Hex32;
    readonly blockNumber: number;
    /** Decimal; absent if the chain did not answer. */
    readonly gasUsed?: string;
  };
  /** An allowance that a paid job gave and did not use, and what to do about it. */
  readonly remainder?: string;
  readonly result?: DisbursementResult;
  readonly error?: ErrorBody;
};
