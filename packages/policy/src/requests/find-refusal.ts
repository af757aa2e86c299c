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
import type { SignInPayload, SignKind, SignRequest } from './requests.ts';
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
  // Only untyped callers can ask for another kind.
  if (!Object.hasOwn(refusals, request.kind)) {
    return 'kind-not-allowed';
  }
  try {
    const refusal = refusals[request.kind](request.payload as never, { address, allow, nowMs });
    if (refusal !== undefined) {
      return refusal;
    }
    return computeRequestExternalId(request) === request.externalId
      ? undefined
      : 'external-id-mismatch';
  } catch (error) {
    if (isPoolError(error) || error instanceof TypeError) {
      return 'malformed-payload';
    }
    throw error;
  }
}

type Context = {
  readonly address: EvmAddress;
  readonly allow: SignerAllow;
  readonly nowMs: number;
};

/** What each kind must fulfil. A kind that is not here is refused. */
const refusals: {
  readonly [TKind in SignKind]: (
    payload: Extract<SignRequest, { readonly kind: TKind }>['payload'],
    context: Context,
  ) => RefusalReason | undefined;
} = {
  'fund-authorization': ({ chainId, pool, authorization }, { address, allow }) =>
    authorization.funder === address
      ? findPoolRefusal(allow, chainId, pool, authorization.token)
      : 'foreign-signer',
  void: ({ chainId, pool, funder }, { address, allow }) =>
    funder === address ? findPoolRefusal(allow, chainId, pool, undefined) : 'foreign-signer',
  permit({ domain, permit, expected }, { address, allow }) {
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
  },
  'token-approval': ({ unsignedTransaction, expected }, { allow }) =>
    findApprovalDefect(unsignedTransaction, expected) ??
    findPoolRefusal(allow, expected.chainId, expected.pool, expected.token),
  'sign-in': findSignInRefusal,
  // The text is fixed. The caller chooses only the platform that it names.
  'viewing-key': () => undefined,
  spend({ salt, operation }, { allow }) {
    // A salt that was never drawn hides nothing: everyone could test whether the spend is of this wallet.
    if (salt.every((byte) => byte === 0)) {
      return 'malformed-payload';
    }
    const isListed = allow.pools?.some(({ chainId, pool, tokens }) =>
      tokens.some((token) => computeAssetId(chainId, pool, token) === operation.assetId),
    );
    return isListed === false ? 'token-not-listed' : undefined;
  },
  // A document that contradicts itself, or whose times have passed, would prove nothing.
  disclosure(payload, { address, allow, nowMs }) {
    const { chainId, pool, token, discloser, issuedAt, expiresAt } =
      'content' in payload ? createDisclosure(payload.content) : parseStatement(payload.statement);
    if (discloser !== address) {
      return 'foreign-signer';
    }
    const isCurrent = 1000 * issuedAt <= nowMs + maxEvidenceSkewMs && nowMs <= 1000 * expiresAt;
    return isCurrent ? findPoolRefusal(allow, chainId, pool, token) : 'stale-disclosure';
  },
};

/** Of a custodian's request: the content is not shown, so only what its typed data says is checked. */
function parseStatement(value: DisclosureStatement): DisclosureStatement {
  const statement = parseWire(disclosureStatementSchema, value, 'disclosure');
  if (statement.expiresAt <= statement.issuedAt) {
    throw new PoolError('invalid_value', 'expiresAt must be after issuedAt');
  }
  return statement;
}

function findSignInRefusal(
  { message, expected }: SignInPayload,
  { address, allow, nowMs }: Context,
): RefusalReason | undefined {
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
