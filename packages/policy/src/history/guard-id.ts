/**
 * Ids of the signing guard: what may have one content only. The same content may be approved again, another one is refused.
 * Vectors: vectors/signing-guard.json.
 *
 * @module
 */
import {
  canonicalDigest,
  type EvmAddress,
  type Field,
  fieldToHex,
  type Hex32,
  parseEvmAddress,
  parseSignInMessage,
} from '@pool/core';
import { computeRequestDigest } from '../requests/request-digest.ts';
import type { SignRequest } from '../requests/requests.ts';
import { readApproval } from '../requests/token-approval.ts';

/** What the id of a request needs beyond the request. */
export type GuardContext = {
  /** Batch nonce of the stored manifest, for a permit or a token approval. */
  readonly batchNonce: Field | undefined;
  /** Digest of the stored manifest, for a spend. */
  readonly manifestDigest: Hex32 | undefined;
  /** The custodian's id of a transaction whose account nonce it chooses itself. */
  readonly transactionId?: string | undefined;
};

/**
 * The guard's id. Public: it holds nothing that the chain or the custodian does not see.
 * @returns undefined if the stored manifest that the id needs is missing
 */
export function computeGuardId(request: SignRequest, context: GuardContext): string | undefined {
  const { batchNonce, manifestDigest } = context;
  const signer = request.expectedSigner;
  switch (request.kind) {
    case 'fund-authorization': {
      const { chainId, pool, authorization } = request.payload;
      return computeBatchGuardId(
        request.kind,
        chainId,
        pool,
        authorization.funder,
        authorization.batchNonce,
      );
    }
    case 'void': {
      const { chainId, pool, funder, batchNonce: voided } = request.payload;
      return computeBatchGuardId(request.kind, chainId, pool, funder, voided);
    }
    case 'permit': {
      const { permit, expected } = request.payload;
      return batchNonce === undefined
        ? undefined
        : `${computeBatchGuardId(request.kind, expected.chainId, expected.pool, permit.owner, batchNonce)}/${permit.nonce}/${permit.deadline}`;
    }
    case 'token-approval': {
      const approval = readApproval(request.payload.unsignedTransaction);
      if (batchNonce === undefined || approval === undefined) {
        return undefined;
      }
      const { chainId, spender, value, accountNonce } = approval;
      const nonce = context.transactionId ?? accountNonce;
      return `${computeBatchGuardId(request.kind, chainId, spender, signer, batchNonce)}/${nonce}/${value}`;
    }
    case 'spend':
      return manifestDigest === undefined ? undefined : `spend/${manifestDigest}`;
    case 'sign-in': {
      const { domain, nonce } = parseSignInMessage(request.payload.message);
      return `sign-in/${signer}/${domain}/${nonce}`;
    }
    case 'viewing-key':
      return `viewing-key/${signer}/${request.payload.domain}`;
    case 'disclosure':
      return `disclosure/${signer}/${computeRequestDigest(request)}`;
  }
}

/**
 * The id of a spend that only a custodian's history shows: its manifest is unknown.
 * @param holder - undefined: unknown too
 */
export function computeSpendDigestId(holder: EvmAddress | undefined, digest: string): string {
  return holder === undefined ? `spend-digest/${digest}` : `spend-digest/${holder}/${digest}`;
}

/** The id of a batch's authorisation or of its withdrawal. */
export function computeBatchGuardId(
  kind: string,
  chainId: number,
  pool: EvmAddress,
  funder: EvmAddress,
  batchNonce: Field | Hex32,
): string {
  const nonce = typeof batchNonce === 'bigint' ? fieldToHex(batchNonce) : batchNonce;
  return `${kind}/${chainId}/${pool}/${funder}/${nonce}`;
}

/**
 * The digest that the guard compares: the digest that is signed, except for a token approval, whose fees may change when it is
 * replaced.
 */
export function computeGuardDigest(request: SignRequest): Hex32 {
  const approval =
    request.kind === 'token-approval'
      ? readApproval(request.payload.unsignedTransaction)
      : undefined;
  if (approval === undefined) {
    return computeRequestDigest(request);
  }
  const { chainId, token, spender, value } = approval;
  return canonicalDigest(['pool/v1/token-approval', chainId, token, spender, String(value)]);
}

/** Scope of a daily sum: a token of a pool for all batches, or for the spends of one holder. */
export function computeCountScope(
  asset: { readonly chainId: number; readonly pool: EvmAddress; readonly token: EvmAddress },
  holder?: EvmAddress,
): string {
  const { chainId, pool, token } = asset;
  const place = `${chainId}/${pool}/${token}`;
  return holder === undefined ? `fund/${place}` : `spend/${place}/${holder}`;
}

/** Reads {@link computeCountScope} of batches back. @returns undefined for every other scope */
export function parseBatchScope(
  scope: string,
): { readonly chainId: number; readonly token: EvmAddress } | undefined {
  const [, chainId, token] = /^fund\/([0-9]+)\/[^/]+\/(0x[0-9a-fA-F]{40})$/.exec(scope) ?? [];
  return token === undefined
    ? undefined
    : { chainId: Number(chainId), token: parseEvmAddress(token) };
}

/** Scope of the day's number of token approvals of a funder, in all pools and chains. */
export function computeApprovalScope(funder: EvmAddress): string {
  return `approvals/${funder}`;
}

/** Scope of the day's fees of a funder's token approvals, in wei, in all pools and chains. */
export function computeFeeScope(funder: EvmAddress): string {
  return `fees/${funder}`;
}

/** Beginning of {@link computePayeeScope}: these sums are about one person, so they are erased when they limit nothing any more. */
export const payeeScopePrefix = 'payee/';

/** Scope of what one recipient is paid in a token. */
export function computePayeeScope(
  asset: { readonly chainId: number; readonly token: EvmAddress },
  address: EvmAddress,
): string {
  return `${payeeScopePrefix}${asset.chainId}/${asset.token}/${computePayeeKey(address)}`;
}

/** UTC day of a time, `YYYY-MM-DD`. */
export function computeDay(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}

/** Key under which a paid address is remembered after its manifest was erased. */
export function computePayeeKey(address: EvmAddress): Hex32 {
  return canonicalDigest(['pool/v1/payee', address]);
}

/** Key under which the newest evidence of a wallet is remembered. */
export function computeWalletKey(walletPub: string): Hex32 {
  return canonicalDigest(['pool/v1/evidence-pin', walletPub]);
}
