/**
 * The requests that a signer accepts. Every kind names *what* is to be authorised, and the adapter computes the digest itself. No
 * kind signs a digest from the caller: 32 raw bytes could be anything, including an Ethereum transaction (protocol §7, "No blind
 * signing").
 *
 * @module
 */
import type {
  DisclosureContent,
  DisclosureStatement,
  EvmAddress,
  Field,
  FundAuthorization,
  FundFile,
  Hex,
  PermitRequest,
  SpendFile,
  TypedData,
} from '@pool/core';
import type { SpendOperation } from '@pool/notes';

/** EIP-712 authorisation of one batch (protocol §8). */
export type FundAuthorizationPayload = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly authorization: FundAuthorization;
};

/** EIP-712 withdrawal of one authorisation (protocol §8). */
export type VoidPayload = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly funder: EvmAddress;
  readonly batchNonce: Field;
};

/** EIP-2612 permit of exactly the batch's total to the pool. */
export type PermitPayload = {
  /** The token's own EIP-712 domain, read from its contract and checked against `expected`. */
  readonly domain: TypedData['domain'];
  readonly permit: PermitRequest;
  readonly expected: ApprovalExpectation;
};

/** An unsigned EVM transaction of type 2 that calls `approve(pool, v)` on a listed token. */
export type TokenApprovalPayload = {
  /** EIP-1559 transaction without signature, serialised. */
  readonly unsignedTransaction: Hex;
  readonly expected: ApprovalExpectation;
};

/** The values that a permit or approval must have. They come from the agent's own configuration and manifest. */
export type ApprovalExpectation = {
  readonly chainId: number;
  readonly token: EvmAddress;
  readonly pool: EvmAddress;
  /** The stored manifest's total in base units. An approval may also be zero. */
  readonly total: bigint;
};

/** A sign-in text (protocol §2): EIP-4361, signed as EIP-191, or its form for an ed25519 wallet. */
export type SignInPayload = {
  readonly message: string;
  readonly expected: {
    readonly domain: string;
    readonly uri: string;
    /** EIP-155 id, required for EIP-4361. The text of an ed25519 wallet names a network instead. */
    readonly chainId?: number;
  };
};

/** The fixed viewing-key text for one platform, signed as EIP-191. The signature is as secret as the key. */
export type ViewingKeyPayload = {
  /** The platform's domain, which the fixed text contains. */
  readonly domain: string;
};

/** A spend of the wallet's notes (protocol §7). The signer computes m from both values. */
export type SpendPayload = {
  /** The public part of the spend. */
  readonly operation: SpendOperation;
  /** 31 random bytes, secret: with it, anyone can test which wallet made the spend. */
  readonly salt: Uint8Array;
};

/** A disclosure of payments to an auditor (docs/disclosure.md), as EIP-712 typed data of a domain of its own. */
export type DisclosurePayload =
  /** The whole document without its signature. The signer checks it against itself. */
  | { readonly content: DisclosureContent }
  /** What a custodian shows of it: its typed data, with the digest of the content. */
  | { readonly statement: DisclosureStatement };

type Request<TKind extends string, TPayload> = {
  readonly kind: TKind;
  readonly payload: TPayload;
  /** The address that must sign. The request is refused unless it is the signer's own address. */
  readonly expectedSigner: EvmAddress;
  /** {@link computeExternalId} of the content. Another id is refused. */
  readonly externalId: string;
};

/**
 * The batch that a funder's request belongs to. A signer outside this process rebuilds the batch from it and refuses a request that
 * does not follow from it. A key in this process ignores it. Secret.
 */
type OfBatch = { readonly file?: FundFile };

export type FundAuthorizationRequest = Request<'fund-authorization', FundAuthorizationPayload> &
  OfBatch;
export type VoidRequest = Request<'void', VoidPayload> & OfBatch;
export type PermitSignRequest = Request<'permit', PermitPayload> & OfBatch;
export type TokenApprovalRequest = Request<'token-approval', TokenApprovalPayload> & OfBatch;
export type SignInRequest = Request<'sign-in', SignInPayload>;
export type ViewingKeyRequest = Request<'viewing-key', ViewingKeyPayload>;
export type SpendRequest = Request<'spend', SpendPayload> & {
  /** The spend that the operation belongs to, for a signer outside this process. Secret. */
  readonly file?: SpendFile;
};
export type DisclosureRequest = Request<'disclosure', DisclosurePayload>;

export type SignRequest =
  | FundAuthorizationRequest
  | VoidRequest
  | PermitSignRequest
  | TokenApprovalRequest
  | SignInRequest
  | ViewingKeyRequest
  | SpendRequest
  | DisclosureRequest;

export type SignKind = SignRequest['kind'];

/** A request without the id that {@link createSignRequest} computes. */
export type SignRequestContent = SignRequest extends infer TRequest
  ? TRequest extends SignRequest
    ? Omit<TRequest, 'externalId'>
    : never
  : never;
