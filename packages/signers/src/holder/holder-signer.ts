/**
 * The signer of a holder: the wallet W that owns notes. Each method names what is signed, and the adapter computes the text or
 * digest itself. No method signs a digest from the caller (protocol §7, "No blind signing").
 *
 * @module
 */
import {
  type ChainFamily,
  type Curve,
  type DisclosureContent,
  type EncryptionPublicKey,
  type Hex,
  PoolError,
  type Secret,
  type SpendFile,
} from '@pool/core';
import type { SpendOperation, SpendSignature } from '@pool/notes';
import type { SignInPayload } from '@pool/policy';
import type { Progress, SubmitOptions } from '../signer.ts';

/** This side refused, and did not ask the provider. An equal request that was sent earlier may still be signed. */
export class OwnRefusalError extends PoolError {}

/** The provider ended the request because nobody decided in time. Final, as a refusal is: there will be no signature. */
export class RequestExpiredError extends PoolError {}

/** A sign-in text of the holder's wallet. */
export type HolderSignIn = SignInPayload & {
  /**
   * P of the holder, the only encryption key that the text may list. Omitted: the text may list none. A signer outside this process
   * compares with its own configuration and ignores this value.
   */
  readonly encryptionPublicKey?: EncryptionPublicKey;
};

/** What one call passes besides the document that is signed. */
export type HolderSignOptions = {
  /** Ends the wait. A request that was accepted stays at the provider. */
  readonly signal?: AbortSignal;
  /** Called when the signer waits for a vote or signs, and at each change after. */
  readonly onProgress?: (progress: Progress) => void;
};

export type HolderSpendOptions = HolderSignOptions & {
  /** Manifest and seed of the spend, for a signer outside this process, which refuses to sign without them. Secret. */
  readonly file?: SpendFile;
};

export type HolderSigner = {
  /** Kind of the signer in the configuration, for example `local-key`. */
  readonly name: string;
  /** Curve of W. It decides the chain families and the curve of P. */
  readonly curve: Curve;
  /** The signer repeats its signatures (RFC 6979, RFC 8032), so a viewing key can be derived from one. */
  readonly deterministic: boolean;
  /** A separate approval process votes on each signature, which takes minutes or hours. Default: false. */
  readonly needsVote?: boolean;
  /**
   * The key is outside this process, behind something that remembers what it signed and signs no second spend of a note while the first
   * one can land. Default: false.
   */
  readonly isRemote?: boolean;
  /** W, lower-case hex: 33 bytes compressed on secp256k1, 32 bytes on ed25519. */
  walletPub(): Promise<Hex>;
  /**
   * Asks the provider whether it signs with W, without asking for a signature. Undefined member: the key is in this process.
   * @throws PoolError if it does not, or does not answer
   */
  probe?(options?: SubmitOptions): Promise<void>;
  /** Ends a connection to the provider. A later call makes another one. Undefined member: no connection stays open. */
  close?(): void;
  /**
   * Signs a sign-in text: EIP-4361 on secp256k1, and its form for Solana and Stellar wallets on ed25519 (docs/decisions/0006).
   * @returns secp256k1: 65 bytes r ‖ s ‖ v, low s, v 27 or 28, recovered to W. ed25519: 64 bytes
   * @throws PoolError `signer_refused`
   */
  signIn(request: HolderSignIn, options?: HolderSignOptions): Promise<Hex>;
  /**
   * Signs the fixed viewing-key text of a platform, and no other text.
   * @param domain - the platform's domain, which the text names
   * @returns 64 bytes, as secret as the viewing key: r ‖ s with low s, or the ed25519 signature. Never store or log it
   * @throws PoolError `viewing_key_required` if the signer does not repeat its signatures; `invalid_value`
   */
  signViewingKeyText(domain: string): Promise<Secret<Uint8Array>>;
  /**
   * Signs m = H_3(TAG_OPERATION, opHash, salt), which the adapter computes itself.
   *
   * The caller stores the signature before the first proof leaves, and sends at most one rSig for each m: two signatures over one m
   * reveal W (protocol §7, "One rSig per manifest").
   * @param salt - 31 random bytes, secret
   * @throws PoolError `signer_refused`; `holder_unsupported` on ed25519, which has no spend circuit
   */
  signSpend(
    operation: SpendOperation,
    salt: Uint8Array,
    options?: HolderSpendOptions,
  ): Promise<SpendSignature>;
  /**
   * Takes back the request for the signature of a spend, so that nobody votes on it any more. A request that was signed, or that the
   * provider does not have, stays as it is. Undefined member: requests of this signer never wait for a vote.
   * @param options - the file that the request was made with
   * @throws PoolError if the provider does not answer, or this side refuses to ask it
   */
  withdrawSpend?(
    operation: SpendOperation,
    salt: Uint8Array,
    options?: HolderSpendOptions,
  ): Promise<void>;
  /**
   * Signs a disclosure of payments that W received, or that W made from its notes (docs/disclosure.md).
   * @param content - the document without its signature; the adapter checks it and computes what is signed
   * @returns 65 bytes r ‖ s ‖ v: low s, v 27 or 28, recovered to W
   * @throws PoolError `signer_refused`; `holder_unsupported` on ed25519
   */
  signDisclosure(content: DisclosureContent, options?: HolderSignOptions): Promise<Hex>;
};

/** A viewing key with its P. */
export type HolderKey = {
  /** v, secret: reads the notes of this P. */
  readonly viewingKey: Secret<bigint>;
  /** P on the curve of W. */
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/** An opened holder: its signer, W and keys. */
export type Holder = HolderKey & {
  readonly signer: HolderSigner;
  readonly family: ChainFamily;
  /** W, hex. */
  readonly walletPub: Hex;
  /** address(W) as the chain family writes it. */
  readonly address: string;
  /** Of earlier P. Notes of these are still shown and spent; change goes to the present P. */
  readonly earlier: readonly HolderKey[];
};
