/**
 * Decides whether a signer may sign a request. Every adapter calls this before it computes, stores or sends anything. The request
 * is refused unless every check passes.
 *
 * @module
 */
import {
  computeAssetId,
  type DisclosureStatement,
  disclosureStatementSchema,
  type EncryptionPublicKey,
  type EvmAddress,
  isPinnedSignIn,
  isPoolError,
  maxEvidenceSkewMs,
  PoolError,
  parseSignInMessage,
  parseWire,
} from '@pool/core';
import { createDisclosure, viewingKeyMessage } from '@pool/notes';
import type { RefusalReason } from './reasons.ts';
import { computeRequestExternalId } from './request-digest.ts';
import type {
  DisclosureRequest,
  FundAuthorizationRequest,
  PermitSignRequest,
  SignInRequest,
  SignKind,
  SignRequest,
  SpendRequest,
  TokenApprovalRequest,
  VoidRequest,
} from './requests.ts';
import { findApprovalDefect } from './token-approval.ts';

/** The configuration of one signer. */
export type SignerAllow = {
  /** Omitted: every kind is allowed. */
  readonly kinds?: readonly SignKind[];
  /** Pools and tokens that the signer accepts. Omitted: any, within the request's own expectations. */
  readonly pools?: readonly {
    readonly chainId: number;
    readonly pool: EvmAddress;
    readonly tokens: readonly EvmAddress[];
  }[];
  /**
   * P of the holder: the only encryption key that a sign-in text may list. Omitted: a text that lists any key is refused. It
   * comes from the signer's own configuration, so a compromised caller cannot make W vouch for a foreign P (protocol §2).
   */
  readonly encryptionPublicKey?: EncryptionPublicKey;
};

/**
 * @param nowMs - the signer's own clock, milliseconds since the epoch
 * @returns the reason for a refusal; undefined means that the signer may sign
 */
export function findRefusal(
  request: SignRequest,
  address: EvmAddress,
  allow: SignerAllow,
  nowMs: number,
): RefusalReason | undefined {
  if (allow.kinds !== undefined && !allow.kinds.includes(request.kind)) {
    return 'kind-not-allowed';
  }
  if (request.expectedSigner !== address) {
    return 'foreign-signer';
  }
  try {
    return findKindRefusal(request, address, allow, nowMs) ?? findIdRefusal(request);
  } catch (error) {
    if (isPoolError(error) || error instanceof TypeError) {
      return 'malformed-payload';
    }
    throw error;
  }
}

function findIdRefusal(request: SignRequest): RefusalReason | undefined {
  return computeRequestExternalId(request) === request.externalId
    ? undefined
    : 'external-id-mismatch';
}

function findKindRefusal(
  request: SignRequest,
  address: EvmAddress,
  allow: SignerAllow,
  nowMs: number,
): RefusalReason | undefined {
  switch (request.kind) {
    case 'fund-authorization':
      return findFundRefusal(request, address, allow);
    case 'void':
      return findVoidRefusal(request, address, allow);
    case 'permit':
      return findPermitRefusal(request, address, allow);
    case 'token-approval':
      return findTokenApprovalRefusal(request, allow);
    case 'sign-in':
      return findSignInRefusal(request, address, allow, nowMs);
    case 'viewing-key':
      // The text is fixed. The caller chooses only the platform that it names.
      return undefined;
    case 'spend':
      return findSpendRefusal(request, allow);
    case 'disclosure':
      return findDisclosureRefusal(request, address, allow, nowMs);
    default:
      // Only untyped callers can reach this line. An unknown kind is refused.
      return 'kind-not-allowed';
  }
}

function findFundRefusal(
  { payload }: FundAuthorizationRequest,
  address: EvmAddress,
  allow: SignerAllow,
): RefusalReason | undefined {
  const { chainId, pool, authorization } = payload;
  if (authorization.funder !== address) {
    return 'foreign-signer';
  }
  return findPoolRefusal(allow, chainId, pool, authorization.token);
}

function findVoidRefusal(
  { payload }: VoidRequest,
  address: EvmAddress,
  allow: SignerAllow,
): RefusalReason | undefined {
  if (payload.funder !== address) {
    return 'foreign-signer';
  }
  return findPoolRefusal(allow, payload.chainId, payload.pool, undefined);
}

function findPermitRefusal(
  { payload }: PermitSignRequest,
  address: EvmAddress,
  allow: SignerAllow,
): RefusalReason | undefined {
  const { domain, permit, expected } = payload;
  if (permit.owner !== address) {
    return 'foreign-signer';
  }
  if (domain.chainId !== expected.chainId) {
    return 'foreign-chain';
  }
  if (domain.verifyingContract !== expected.token) {
    return 'token-not-listed';
  }
  if (permit.spender !== expected.pool) {
    return 'foreign-spender';
  }
  // A permit of zero is never needed: the permit is part of the fund transaction, which consumes it.
  if (permit.value !== expected.total || permit.value <= 0n) {
    return 'amount-mismatch';
  }
  return findPoolRefusal(allow, expected.chainId, expected.pool, expected.token);
}

function findTokenApprovalRefusal(
  { payload }: TokenApprovalRequest,
  allow: SignerAllow,
): RefusalReason | undefined {
  const { unsignedTransaction, expected } = payload;
  return (
    findApprovalDefect(unsignedTransaction, expected) ??
    findPoolRefusal(allow, expected.chainId, expected.pool, expected.token)
  );
}

function findSpendRefusal(
  { payload }: SpendRequest,
  { pools }: SignerAllow,
): RefusalReason | undefined {
  // A salt that was never drawn hides nothing: everyone could test whether the spend is of this wallet.
  if (payload.salt.every((byte) => byte === 0)) {
    return 'malformed-payload';
  }
  const isListed = pools?.some(({ chainId, pool, tokens }) =>
    tokens.some((token) => computeAssetId(chainId, pool, token) === payload.operation.assetId),
  );
  return isListed === false ? 'token-not-listed' : undefined;
}

// A document that contradicts itself, or whose times have passed, would prove nothing.
function findDisclosureRefusal(
  { payload }: DisclosureRequest,
  address: EvmAddress,
  allow: SignerAllow,
  nowMs: number,
): RefusalReason | undefined {
  const { chainId, pool, token, discloser, issuedAt, expiresAt } =
    'content' in payload ? createDisclosure(payload.content) : parseStatement(payload.statement);
  if (discloser !== address) {
    return 'foreign-signer';
  }
  const isCurrent = 1000 * issuedAt <= nowMs + maxEvidenceSkewMs && nowMs <= 1000 * expiresAt;
  if (!isCurrent) {
    return 'stale-disclosure';
  }
  return findPoolRefusal(allow, chainId, pool, token);
}

/** Of a custodian's request: the content is not shown, so only what its typed data says is checked. */
function parseStatement(value: DisclosureStatement): DisclosureStatement {
  const statement = parseWire(disclosureStatementSchema, value, 'disclosure');
  if (statement.expiresAt <= statement.issuedAt) {
    throw new PoolError('invalid_value', 'expiresAt must be after issuedAt');
  }
  return statement;
}

function findSignInRefusal(
  { payload }: SignInRequest,
  address: EvmAddress,
  allow: SignerAllow,
  nowMs: number,
): RefusalReason | undefined {
  const { message, expected } = payload;
  // The viewing key is derived from this signature, so no platform may obtain it as a sign-in.
  if (isViewingKeyText(message)) {
    return 'viewing-key-text';
  }
  const parsed = parseSignInMessage(message);
  if (parsed.address !== address) {
    return 'foreign-signer';
  }
  const isExpected =
    parsed.domain === expected.domain &&
    parsed.uri === expected.uri &&
    parsed.chainId === expected.chainId;
  if (!isExpected) {
    return 'foreign-sign-in';
  }
  if (!isPinnedSignIn(message)) {
    return 'sign-in-text';
  }
  const listed = parsed.encryptionPublicKey;
  if (listed !== undefined && listed !== allow.encryptionPublicKey) {
    return 'foreign-encryption-key';
  }
  // The condition refuses a date that cannot be parsed. A text dated in the future would take precedence over every later
  // rotation.
  const isNearNow = Math.abs(parsed.issuedAtMs - nowMs) <= maxEvidenceSkewMs;
  return isNearNow ? undefined : 'stale-sign-in';
}

// The viewing-key text of any platform, not only of the expected one.
function isViewingKeyText(message: string): boolean {
  const domain = /^[!-~]{1,255}(?= )/.exec(message)?.[0];
  return domain !== undefined && message === viewingKeyMessage(domain);
}

function findPoolRefusal(
  allow: SignerAllow,
  chainId: number,
  pool: EvmAddress,
  token: EvmAddress | undefined,
): RefusalReason | undefined {
  if (allow.pools === undefined) {
    return undefined;
  }
  const listed = allow.pools.find((entry) => entry.chainId === chainId && entry.pool === pool);
  if (listed === undefined) {
    return 'pool-not-listed';
  }
  return token === undefined || listed.tokens.includes(token) ? undefined : 'token-not-listed';
}
