/**
 * One interface for signers of typed requests. A signer builds the document that it signs, and refuses what its policy does not
 * allow.
 *
 * @module
 */

export { acceptSignature, type RawSignature, type SignatureClaim } from './accept-signature.ts';
export type { SignerAllow } from './decide-request.ts';
export { computeHolderEncryptionKey, deriveHolderViewingKey } from './holder/holder-keys.ts';
export type { HolderSigner, HolderSignIn } from './holder/holder-signer.ts';
export {
  createLocalEd25519Holder,
  type LocalEd25519HolderOptions,
} from './holder/local-ed25519-holder.ts';
export { createLocalKeyHolder, type LocalKeyHolderOptions } from './holder/local-key-holder.ts';
export { createReadOnlyHolder } from './holder/read-only-holder.ts';
export { createLocalKeySigner, type LocalKeySignerOptions } from './local-key.ts';
export { computeExternalId, computeRequestDigest, createSignRequest } from './request-digest.ts';
export type {
  ApprovalExpectation,
  DisclosurePayload,
  DisclosureRequest,
  FundAuthorizationPayload,
  FundAuthorizationRequest,
  PermitPayload,
  PermitSignRequest,
  SignInPayload,
  SignInRequest,
  SignKind,
  SignRequest,
  SignRequestContent,
  SpendPayload,
  SpendRequest,
  TokenApprovalPayload,
  TokenApprovalRequest,
  ViewingKeyPayload,
  ViewingKeyRequest,
  VoidPayload,
  VoidRequest,
} from './requests.ts';
export type { Outcome, Progress, RefusalReason, Signer, SignerCapabilities } from './signer.ts';
export { encodeApproveCall, encodeSignedTransaction, maxApprovalGas } from './token-approval.ts';
