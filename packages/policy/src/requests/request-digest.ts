/**
 * The digest and the id of a request. Both are computed from its content.
 *
 * @module
 */
import {
  canonicalDigest,
  computeBatchNonce,
  computeDisclosureStatementData,
  computeFundAuthorizationData,
  computePermitData,
  computeTypedDataDigest,
  computeVoidBatchData,
  createDisclosureStatement,
  type DisclosureStatement,
  type EvmAddress,
  type FundFile,
  fieldToHex,
  type Hex32,
  parseEvmAddress,
  parseHex32,
} from '@pool/core';
import { computeSpendDigest, viewingKeyMessage } from '@pool/notes';
import { hashMessage } from 'ethers';
import type { DisclosurePayload, SignRequestContent } from './requests.ts';
import { computeTransactionDigest } from './token-approval.ts';

/**
 * The 32 bytes that are signed.
 * @throws PoolError if the payload is not a valid document of its kind
 */
export function computeRequestDigest(request: SignRequestContent): Hex32 {
  switch (request.kind) {
    case 'fund-authorization': {
      const { chainId, pool, authorization } = request.payload;
      return computeTypedDataDigest(computeFundAuthorizationData(chainId, pool, authorization));
    }
    case 'void': {
      const { chainId, pool, funder, batchNonce } = request.payload;
      return computeTypedDataDigest(computeVoidBatchData(chainId, pool, funder, batchNonce));
    }
    case 'permit':
      return computeTypedDataDigest(
        computePermitData(request.payload.domain, request.payload.permit),
      );
    case 'token-approval':
      return computeTransactionDigest(request.payload.unsignedTransaction);
    case 'sign-in':
      return parseHex32(hashMessage(request.payload.message));
    case 'viewing-key':
      return parseHex32(hashMessage(viewingKeyMessage(request.payload.domain)));
    case 'spend':
      return fieldToHex(computeSpendDigest(request.payload.operation, request.payload.salt));
    case 'disclosure':
      return computeTypedDataDigest(
        computeDisclosureStatementData(readDisclosureStatement(request.payload)),
      );
  }
}

/** What a disclosure's typed data says. */
export function readDisclosureStatement(payload: DisclosurePayload): DisclosureStatement {
  return 'content' in payload ? createDisclosureStatement(payload.content) : payload.statement;
}

/**
 * The id under which a provider stores a request. The same content has the same id on every host and after every crash. A lost
 * answer is therefore looked up, and the request is never sent twice.
 *
 * @returns 39 characters `p1-…`, which the id field of every custodian accepts. Public; it reveals nothing.
 */
export function computeExternalId(content: {
  readonly kind: string;
  readonly expectedSigner: EvmAddress;
  readonly chainId: number | undefined;
  readonly pool: EvmAddress | undefined;
  /** Identifies the authorisation within its pool, for example its batch nonce. */
  readonly authorizationId: string | undefined;
  readonly digest: Hex32;
}): string {
  const { kind, expectedSigner, chainId, pool, authorizationId, digest } = content;
  const hash = canonicalDigest([
    'pool/v1/external-id',
    kind,
    chainId ?? null,
    pool ?? null,
    expectedSigner,
    authorizationId ?? null,
    digest,
  ]);
  return `p1-${hash.slice(2, 38)}`;
}

/** {@link computeExternalId} of a request's content. */
export function computeRequestExternalId(request: SignRequestContent): string {
  return computeExternalId({
    kind: request.kind,
    expectedSigner: request.expectedSigner,
    digest: computeRequestDigest(request),
    ...placeOf(request),
  });
}

function placeOf(request: SignRequestContent): {
  readonly chainId: number | undefined;
  readonly pool: EvmAddress | undefined;
  readonly authorizationId: string | undefined;
} {
  switch (request.kind) {
    case 'fund-authorization': {
      const { chainId, pool, authorization } = request.payload;
      return { chainId, pool, authorizationId: String(authorization.batchNonce) };
    }
    case 'void': {
      const { chainId, pool, batchNonce } = request.payload;
      return { chainId, pool, authorizationId: String(batchNonce) };
    }
    case 'permit':
    case 'token-approval': {
      const { chainId, pool } = request.payload.expected;
      return { chainId, pool, authorizationId: nameBatch(request.file) };
    }
    case 'disclosure': {
      const { chainId, pool } = readDisclosureStatement(request.payload);
      return { chainId, pool, authorizationId: undefined };
    }
    // The digest of a spend binds its asset, which names chain, pool and token.
    case 'spend':
    case 'sign-in':
    case 'viewing-key':
      return { chainId: undefined, pool: undefined, authorizationId: undefined };
  }
}

/**
 * Batches of one total and deadline have permits and approvals of the same content. Each has a request of its own, or one that was
 * denied for one batch would be the answer for another.
 * @returns undefined for whoever has only the content, such as the process that reads it at a custodian
 */
function nameBatch(file: FundFile | undefined): string | undefined {
  if (file === undefined) {
    return undefined;
  }
  const { employerId, chainId, pool, funder, jobKey, attempt } = file.manifest;
  return String(
    computeBatchNonce({
      ...{ employerId, chainId, jobKey, attempt },
      pool: parseEvmAddress(pool),
      funder: parseEvmAddress(funder),
    }),
  );
}

/** Adds the id to a request. @throws PoolError if the payload is malformed */
export function createSignRequest<TContent extends SignRequestContent>(
  content: TContent,
): TContent & { readonly externalId: string } {
  return { ...content, externalId: computeRequestExternalId(content) };
}
