/**
 * One interface for signers of typed requests. A signer builds the document that it signs, and refuses what its policy does not
 * allow.
 *
 * @module
 */

export type {
  ApprovalExpectation,
  FundAuthorizationPayload,
  PermitPayload,
  RefusalReason,
  SignerAllow,
  SignKind,
  SignRequest,
  SignRequestContent,
  VoidPayload,
} from '@pool/policy';
export {
  computeRequestDigest,
  createSignRequest,
  encodeApproveCall,
  encodeSignedTransaction,
  maxApprovalFeeWei,
  maxApprovalGas,
} from '@pool/policy';
export { acceptSignature } from './accept-signature.ts';
export {
  type Approver,
  type ApproverWallet,
  createApproverClient,
} from './approver/approver-client.ts';
export { computeDevelopmentPcrs } from './attestation/development-attestation.ts';
export {
  type AttestationPins,
  verifyAttestation,
} from './attestation/verify-attestation.ts';
export {
  type ContractWalletOptions,
  createContractWalletSigner,
  type OwnersAnswer,
  type OwnersDesk,
  type OwnersRequest,
} from './contract-wallet/contract-wallet-signer.ts';
export { computeSafeMessageHash, createSafeMessage } from './contract-wallet/safe-message.ts';
export { createCustodianAHolder } from './custodian-a/custodian-a-holder.ts';
export { createCustodianASigner } from './custodian-a/custodian-a-signer.ts';
export {
  type CustodianAClient,
  createCustodianAClient,
} from './custodian-a/custodian-client.ts';
export { readCustodianAEvent } from './custodian-a/webhook.ts';
export { createCustodianBSigner } from './custodian-b/custodian-b-signer.ts';
export {
  createLocalEd25519Funder,
  type Ed25519Funder,
} from './ed25519-funder/ed25519-funder.ts';
export {
  createEnclaveHolder,
  createEnclaveSigner,
  type EnclaveSigner,
} from './enclave/enclave-signer.ts';
export { computeHolderEncryptionKey, deriveHolderViewingKey } from './holder/holder-keys.ts';
export {
  type Holder,
  type HolderKey,
  type HolderSigner,
  type HolderSignIn,
  OwnRefusalError,
} from './holder/holder-signer.ts';
export { createLocalEd25519Holder } from './holder/local-ed25519-holder.ts';
export { createLocalKeyHolder } from './holder/local-key-holder.ts';
export { createReadOnlyHolder } from './holder/read-only-holder.ts';
export { createRemoteHolder } from './holder/remote-holder.ts';
export { createLocalKeySigner } from './local-key.ts';
export { approveVariables } from './registry/custodian-values.ts';
export { type HolderSettings, readHolderSettings } from './registry/holder-settings.ts';
export { type EarlierViewingKey, holderVariables } from './registry/holder-variables.ts';
export { funderKeys, holderKeys } from './registry/local-keys.ts';
export {
  assertSigns,
  createHolderSigner,
  type HolderPlace,
  openHolder,
  parseSecretKey,
} from './registry/open-holder.ts';
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
} from './signer.ts';
