/**
 * One interface for signers of typed requests. A signer builds the document that it signs, and refuses what its policy does not
 * allow.
 *
 * @module
 */

export type {
  ApprovalExpectation,
  DisclosurePayload,
  DisclosureRequest,
  FundAuthorizationPayload,
  FundAuthorizationRequest,
  PermitPayload,
  PermitSignRequest,
  RefusalReason,
  SignerAllow,
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
} from '@pool/policy';
export {
  computeExternalId,
  computeRequestDigest,
  createSignRequest,
  encodeApproveCall,
  encodeSignedTransaction,
  maxApprovalFeeWei,
  maxApprovalGas,
} from '@pool/policy';
export { acceptSignature, type RawSignature, type SignatureClaim } from './accept-signature.ts';
export {
  type Approver,
  type ApproverClientOptions,
  type ApproverWallet,
  createApproverClient,
} from './approver/approver-client.ts';
export {
  type AttestationDefect,
  describeAttestationDefect,
} from './attestation/attestation-defect.ts';
export type { AttestationDocument } from './attestation/attestation-document.ts';
export {
  areDevelopmentPcrs,
  computeDevelopmentPcrs,
} from './attestation/development-attestation.ts';
export {
  type AttestationExpectation,
  type AttestationPins,
  type AttestationVerdict,
  verifyAttestation,
} from './attestation/verify-attestation.ts';
export {
  type CustodianAHolderOptions,
  createCustodianAHolder,
} from './custodian-a/custodian-a-holder.ts';
export {
  type CustodianASignerOptions,
  createCustodianASigner,
} from './custodian-a/custodian-a-signer.ts';
export {
  type AuthorizedChange,
  type CustodianAAccount,
  type CustodianAChange,
  type CustodianAClient,
  createCustodianAClient,
} from './custodian-a/custodian-client.ts';
export { type CustodianAEvent, readCustodianAEvent } from './custodian-a/webhook.ts';
export {
  type CustodianBSignerOptions,
  createCustodianBSigner,
} from './custodian-b/custodian-b-signer.ts';
export type { CustodianBAccount } from './custodian-b/custodian-client.ts';
export {
  createLocalEd25519Funder,
  type Ed25519Funder,
  type Ed25519FundRequest,
  type Ed25519Outcome,
  type LocalEd25519FunderOptions,
} from './ed25519-funder/ed25519-funder.ts';
export {
  createEnclaveHolder,
  createEnclaveSigner,
  type EnclaveHolderOptions,
  type EnclaveSigner,
  type EnclaveSignerOptions,
} from './enclave/enclave-signer.ts';
export { parsePcrPins, parseRootSha256 } from './enclave/pins.ts';
export { computeHolderEncryptionKey, deriveHolderViewingKey } from './holder/holder-keys.ts';
export {
  type HolderSigner,
  type HolderSignIn,
  type HolderSignOptions,
  type HolderSpendOptions,
  OwnRefusalError,
  RequestExpiredError,
} from './holder/holder-signer.ts';
export {
  createLocalEd25519Holder,
  type LocalEd25519HolderOptions,
} from './holder/local-ed25519-holder.ts';
export { createLocalKeyHolder, type LocalKeyHolderOptions } from './holder/local-key-holder.ts';
export { createReadOnlyHolder } from './holder/read-only-holder.ts';
export { createRemoteHolder, type RemoteHolderOptions } from './holder/remote-holder.ts';
export { createLocalKeySigner, type LocalKeySignerOptions } from './local-key.ts';
export { approveVariables } from './registry/custodian-values.ts';
export { funderKeys, holderKeys } from './registry/local-keys.ts';
export {
  type FunderKind,
  funderKinds,
  funderRole,
  funderRoles,
  type HolderKind,
  holderKinds,
  holderRole,
  type RemoteFunder,
  type RemoteHolder,
  readFunder,
  readHolder,
  remoteHolderRole,
  remoteHolderRoles,
  signerVariables,
} from './registry/registry.ts';
export type { RemoteHolderRole } from './registry/signer-role.ts';
export type {
  Outcome,
  Progress,
  Signer,
  SignerCapabilities,
  SubmitOptions,
} from './signer.ts';
