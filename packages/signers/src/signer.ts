/**
 * The interface of every signer: local key, enclave, custodian.
 *
 * `submit` and `read` are separate, so that a job can store `providerId` and survive a crash while people approve. `find`
 * recovers a request whose answer was lost. A signer only returns a signature that passed {@link acceptSignature}.
 *
 * @module
 */
import type { EvmAddress, Hex, WalletPub } from '@pool/core';
import type { SignRequest } from './requests.ts';

/** The reason for a refusal. Each is final for that request. */
export type RefusalReason =
  /** The signer does not sign this kind, or its configuration does not allow it. */
  | 'kind-not-allowed'
  /** `expectedSigner`, or the funder, owner or wallet in the payload, is not this signer's address. */
  | 'foreign-signer'
  /** `externalId` is not that of the content. */
  | 'external-id-mismatch'
  /** The payload is not a valid document of its kind. */
  | 'malformed-payload'
  /** Chain and pool are not in the signer's list. */
  | 'pool-not-listed'
  /** The token is not in the signer's list, or not the expected one. */
  | 'token-not-listed'
  | 'foreign-chain'
  | 'foreign-spender'
  /** Total, permit or approval of another amount than the manifest's. */
  | 'amount-mismatch'
  /** The transaction is not type 2, carries value or an access list, or calls anything but `approve`. */
  | 'not-an-approval'
  /** The transaction could spend more on gas than an approval needs. */
  | 'gas-too-high'
  /** The sign-in text is for another domain, URI or chain. */
  | 'foreign-sign-in'
  /** The sign-in text lists an encryption key that is not the one in the signer's configuration. */
  | 'foreign-encryption-key'
  /** The sign-in text is dated more than 5 minutes before or after the signer's clock. */
  | 'stale-sign-in'
  /** The disclosure has expired, or is dated more than 5 minutes after the signer's clock. */
  | 'stale-disclosure'
  /** The viewing-key text was offered under another kind. */
  | 'viewing-key-text'
  /** Two signatures of one text differed: a viewing key derived from them would be lost. */
  | 'not-deterministic'
  /** A person or a policy voted no. */
  | 'denied';

export type Progress = {
  readonly state: 'submitted' | 'awaiting-approval' | 'signing';
  readonly providerId: string;
  readonly approvalId?: string;
};

export type Outcome =
  | {
      readonly state: 'signed';
      readonly providerId: string;
      /** 65 bytes r ‖ s ‖ v: low s, v 27 or 28, recovered to the signer's address. */
      readonly signature: Hex;
    }
  | {
      readonly state: 'refused';
      readonly providerId?: string;
      readonly reason: RefusalReason;
      /** Public explanation, without values from the request. */
      readonly message: string;
    }
  | { readonly state: 'expired'; readonly providerId: string }
  | {
      readonly state: 'failed';
      readonly providerId?: string;
      readonly retryable: boolean;
      readonly code: string;
      readonly message: string;
    };

export type SignerCapabilities = {
  /** The same request always gives the same signature (RFC 6979). */
  readonly deterministic: boolean;
  /** A separate approval process must receive the manifest first. */
  readonly needsApprover: boolean;
  readonly curves: readonly ('secp256k1' | 'ed25519')[];
};

export type Signer = {
  /** Kind of the signer in the configuration, for example `local-key`. */
  readonly name: string;
  readonly capabilities: SignerCapabilities;
  address(): Promise<EvmAddress>;
  publicKey(): Promise<WalletPub>;
  submit(request: SignRequest): Promise<Progress | Outcome>;
  /** @returns undefined if the signer does not know the id any more: submit again */
  read(providerId: string): Promise<Progress | Outcome | undefined>;
  /** Finds a request by the id of its content, after an answer was lost. */
  find(externalId: string): Promise<Progress | Outcome | undefined>;
};
