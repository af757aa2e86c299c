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
import type { DisclosurePayload, SignKind, SignRequestContent } from './requests.ts';
import { computeTransactionDigest } from './token-approval.ts';

type RequestOf<TKind extends SignKind> = Extract<SignRequestContent, { readonly kind: TKind }>;

/** Where a request counts. `authorizationId` identifies the authorisation within its pool, for example its batch nonce. */
type Place = {
  readonly chainId?: number | undefined;
  readonly pool?: EvmAddress | undefined;
  readonly authorizationId?: string | undefined;
};

type Kind<TKind extends SignKind> = {
  /** The 32 bytes that are signed. */
  digest(payload: RequestOf<TKind>['payload']): Hex32;
  place(request: RequestOf<TKind>): Place;
};

/** The digest of a spend binds its asset, which names chain, pool and token. A text counts everywhere. */
function nowhere(): Place {
  return {};
}

const kinds: { readonly [TKind in SignKind]: Kind<TKind> } = {
  'fund-authorization': {
    digest: ({ chainId, pool, authorization }) =>
      computeTypedDataDigest(computeFundAuthorizationData(chainId, pool, authorization)),
    place({ payload: { chainId, pool, authorization } }) {
      return { chainId, pool, authorizationId: String(authorization.batchNonce) };
    },
  },
  void: {
    digest: ({ chainId, pool, funder, batchNonce }) =>
      computeTypedDataDigest(computeVoidBatchData(chainId, pool, funder, batchNonce)),
    place: ({ payload: { chainId, pool, batchNonce } }) => ({
      chainId,
      pool,
      authorizationId: String(batchNonce),
    }),
  },
  permit: {
    digest: ({ domain, permit }) => computeTypedDataDigest(computePermitData(domain, permit)),
    place: placeOfAllowance,
  },
  'token-approval': {
    digest: ({ unsignedTransaction }) => computeTransactionDigest(unsignedTransaction),
    place: placeOfAllowance,
  },
  'sign-in': { digest: ({ message }) => parseHex32(hashMessage(message)), place: nowhere },
  'viewing-key': {
    digest: ({ domain }) => parseHex32(hashMessage(viewingKeyMessage(domain))),
    place: nowhere,
  },
  spend: {
    digest: ({ operation, salt }) => fieldToHex(computeSpendDigest(operation, salt)),
    place: nowhere,
  },
  disclosure: {
    digest: (payload) =>
      computeTypedDataDigest(computeDisclosureStatementData(readDisclosureStatement(payload))),
    place({ payload }) {
      const { chainId, pool } = readDisclosureStatement(payload);
      return { chainId, pool };
    },
  },
};

export const signKinds = Object.keys(kinds) as readonly SignKind[];

/** The rules of a request's own kind. */
function kindOf({ kind }: SignRequestContent): {
  digest(payload: SignRequestContent['payload']): Hex32;
  place(request: SignRequestContent): Place;
} {
  return kinds[kind];
}

/**
 * The 32 bytes that are signed.
 * @throws PoolError if the payload is not a valid document of its kind
 */
export function computeRequestDigest(request: SignRequestContent): Hex32 {
  return kindOf(request).digest(request.payload);
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
export function computeExternalId(
  content: Place & {
    readonly kind: string;
    readonly expectedSigner: EvmAddress;
    readonly digest: Hex32;
  },
): string {
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
    ...kindOf(request).place(request),
  });
}

function placeOfAllowance({ payload, file }: RequestOf<'permit' | 'token-approval'>): Place {
  const { chainId, pool } = payload.expected;
  return { chainId, pool, authorizationId: nameBatch(file) };
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
