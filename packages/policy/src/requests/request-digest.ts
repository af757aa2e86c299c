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
  type TypedData,
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
  digest(request: RequestOf<TKind>): Hex32;
  place(request: RequestOf<TKind>): Place;
};

type TypedRequest = RequestOf<'fund-authorization' | 'void' | 'permit' | 'disclosure'>;

/** The typed data that is signed. @throws PoolError if the payload is not a valid document of its kind */
export function computeRequestData({ kind, payload }: TypedRequest): TypedData {
  switch (kind) {
    case 'fund-authorization':
      return computeFundAuthorizationData(payload.chainId, payload.pool, payload.authorization);
    case 'void': {
      const { chainId, pool, funder, batchNonce } = payload;
      return computeVoidBatchData(chainId, pool, funder, batchNonce);
    }
    case 'permit':
      return computePermitData(payload.domain, payload.permit);
    case 'disclosure':
      return computeDisclosureStatementData(readDisclosureStatement(payload));
  }
}

function digestData(request: TypedRequest): Hex32 {
  return computeTypedDataDigest(computeRequestData(request));
}

/** The digest of a spend binds its asset, which names chain, pool and token. A text counts everywhere. */
function nowhere(): Place {
  return {};
}

const kinds: { readonly [TKind in SignKind]: Kind<TKind> } = {
  'fund-authorization': {
    digest: digestData,
    place({ payload: { chainId, pool, authorization } }) {
      return { chainId, pool, authorizationId: String(authorization.batchNonce) };
    },
  },
  void: {
    digest: digestData,
    place: ({ payload: { chainId, pool, batchNonce } }) => ({
      chainId,
      pool,
      authorizationId: String(batchNonce),
    }),
  },
  permit: { digest: digestData, place: placeOfAllowance },
  'token-approval': {
    digest: ({ payload }) => computeTransactionDigest(payload.unsignedTransaction),
    place: placeOfAllowance,
  },
  'sign-in': {
    digest: ({ payload }) => parseHex32(hashMessage(payload.message)),
    place: nowhere,
  },
  'viewing-key': {
    digest: ({ payload }) => parseHex32(hashMessage(viewingKeyMessage(payload.domain))),
    place: nowhere,
  },
  spend: {
    digest: ({ payload }) => fieldToHex(computeSpendDigest(payload.operation, payload.salt)),
    place: nowhere,
  },
  disclosure: {
    digest: digestData,
    place({ payload }) {
      const { chainId, pool } = readDisclosureStatement(payload);
      return { chainId, pool };
    },
  },
};

export const signKinds = Object.keys(kinds) as readonly SignKind[];

/** The rules of a request's own kind. */
function kindOf({ kind }: SignRequestContent): {
  digest(request: SignRequestContent): Hex32;
  place(request: SignRequestContent): Place;
} {
  return kinds[kind];
}

/**
 * The 32 bytes that are signed.
 * @throws PoolError if the payload is not a valid document of its kind
 */
export function computeRequestDigest(request: SignRequestContent): Hex32 {
  return kindOf(request).digest(request);
}

/** What a disclosure's typed data says. */
function readDisclosureStatement(payload: DisclosurePayload): DisclosureStatement {
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
