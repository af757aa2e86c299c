/**
 * The words of the checks: what they are given, what they find.
 *
 * @module
 */
import type {
  Amount,
  BatchSize,
  DisbursementErrorCode,
  DisburseRequest,
  PoolError,
  SkippedRecipient,
  TokenSettings,
} from '@pool/core';
import type { ChainContext, PaidKeys, PlatformPort } from '../ports.ts';
import type { EvidenceVerifier, VerifiedRecipient } from './evidence-verifier.ts';

/** One thing wrong with a request. */
export type Issue = {
  /** Position in `recipients`; -1 for the request as a whole. */
  readonly requestIndex: number;
  readonly code: DisbursementErrorCode | 'invalid_request';
  readonly message: string;
};

/** A recipient that will be paid. */
export type CheckedRecipient = VerifiedRecipient & {
  readonly requestIndex: number;
  readonly amount: Amount;
  readonly memo: string | undefined;
};

/** One recipient that is about to be paid under another P than last time. */
export type KeyRotation = {
  readonly requestIndex: number;
  /** When the wallet signed for the new key, milliseconds since the epoch. */
  readonly signedAtMs: number;
  /** When this agent last paid it, under the key before. */
  readonly paidAtMs: number;
};

/** A request that passed: everything the pipeline needs of it. */
export type CheckedDisbursement = {
  readonly request: DisburseRequest;
  readonly context: ChainContext;
  readonly tokenSymbol: string;
  readonly token: TokenSettings;
  readonly size: BatchSize;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  /** Recipients whose encryption key changed since this agent last paid them. */
  readonly rotations: readonly KeyRotation[];
  /** Sum over `recipients`. */
  readonly total: Amount;
};

/** Where a chain key leads. */
export type ChainRoute =
  | { readonly kind: 'routable'; readonly context: ChainContext; readonly maxRecipients: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/** What a request would take, as far as it can be told: present whatever else is wrong with it. */
export type PaymentTarget = {
  readonly context: ChainContext;
  readonly token: TokenSettings;
  /** Sum of the amounts that are amounts, base units. */
  readonly total: Amount;
};

export type CheckReport = {
  readonly issues: readonly Issue[];
  /** Present when there is no issue and nothing was interrupted. */
  readonly checked: CheckedDisbursement | undefined;
  readonly target: PaymentTarget | undefined;
  readonly rotations: readonly KeyRotation[];
  /** Whom `unregistered: skip` leaves out. */
  readonly skipped: readonly SkippedRecipient[];
  /** Somebody who had to be asked did not answer (503): there may be more issues than were found. */
  readonly interrupted: PoolError | undefined;
};

export type CheckDeps = {
  /**
   * @param key - undefined: the configured default
   * @throws PoolError 503 while the agent does not know whose it is
   */
  routeChain(key: string | undefined): ChainRoute;
  readonly platform: Pick<PlatformPort, 'lookupRecipients'>;
  readonly evidence: EvidenceVerifier;
  readonly paidKeys: Pick<PaidKeys, 'findAll'>;
  /** False: the deployment has no gate, so nobody is fundable. */
  readonly hasGate: boolean;
};
