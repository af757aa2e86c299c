/**
 * The types of the checks: their inputs and their results.
 *
 * @module
 */
import type {
  Amount,
  DisbursementErrorCode,
  FundRecipient,
  Hex32,
  PoolError,
  SkippedRecipient,
  TokenSettings,
} from '@pool/core';
import type { EvidenceVerifier, VerifiedRecipient } from '@pool/wallet';
import type { ChainContext, PaidKeys, PlatformPort } from '../ports.ts';

/** One thing wrong with a request. */
export type Issue = {
  /** Position in `recipients`; -1 for the request as a whole. */
  readonly requestIndex: number;
  readonly code: DisbursementErrorCode | 'invalid_request';
  readonly message: string;
};

/** Does not compile while a part has a field that the whole does not have: a manifest would store it unseen. */
type PartOf<Whole, Part extends Record<Exclude<keyof Part, keyof Whole>, never>> = Part;

/**
 * A recipient that will be paid: its fields in the manifest, and its position in the request. The stored
 * record of the job keeps it in this form.
 */
export type CheckedRecipient = PartOf<FundRecipient, VerifiedRecipient> &
  Readonly<Omit<FundRecipient, keyof VerifiedRecipient>> & {
    readonly requestIndex: number;
  };

/** A recipient whose encryption key P is not the one of its last payment. */
export type KeyRotation = {
  readonly requestIndex: number;
  /** When the wallet signed for the new key, milliseconds since the epoch. */
  readonly signedAtMs: number;
  /** When this agent last paid it, under the key before. */
  readonly paidAtMs: number;
};

/** A request that passed: everything that the pipeline needs of it. */
export type CheckedDisbursement = {
  /** SHA-256 of the canonical body. A second request under the same Idempotency-Key must have the same. */
  readonly requestDigest: Hex32;
  readonly context: ChainContext;
  readonly tokenSymbol: string;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  /** Recipients whose encryption key changed since this agent last paid them. */
  readonly rotations: readonly KeyRotation[];
  /** Sum of `recipients`, base units. */
  readonly total: Amount;
};

/** The chain and settings that a chain key names. */
export type ChainRoute =
  | { readonly kind: 'routable'; readonly context: ChainContext; readonly maxRecipients: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/** What a request would take from the funder. Known as soon as chain and token are known, even if there are other issues. */
export type PaymentTarget = {
  readonly context: ChainContext;
  readonly token: TokenSettings;
  /** Sum of the valid amounts, base units. */
  readonly total: Amount;
};

export type CheckReport = {
  readonly issues: readonly Issue[];
  /** Undefined: there is an issue, or the checks were interrupted. */
  readonly checked: CheckedDisbursement | undefined;
  readonly target: PaymentTarget | undefined;
  readonly rotations: readonly KeyRotation[];
  /** The recipients that `unregistered: skip` leaves out. */
  readonly skipped: readonly SkippedRecipient[];
  /** A service did not answer (503), so there may be more issues than were found. */
  readonly interrupted: PoolError | undefined;
};

export type CheckDeps = {
  /**
   * @param key - undefined: the configured default
   * @throws PoolError 503 while the agent does not know its employer
   */
  routeChain(key: string | undefined): ChainRoute | Promise<ChainRoute>;
  readonly platform: Pick<PlatformPort, 'lookupRecipients'>;
  readonly evidence: EvidenceVerifier;
  readonly paidKeys: Pick<PaidKeys, 'findAll'>;
  /** False: the deployment has no pool-gate, so no recipient is fundable. */
  readonly hasGate: boolean;
};
