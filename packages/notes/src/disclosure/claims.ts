/**
 * The claims of a disclosure: what each part proves, or why it does not (docs/disclosure.md, "What is proved").
 *
 * @module
 */
import type {
  EncryptionPublicKey,
  EvidenceDomain,
  EvmAddress,
  Field,
  Hex,
  Hex32,
} from '@pool/core';

/** Why a claim is not proved. */
export type DisclosureGap =
  /** The document is not a disclosure of version 1, or it contradicts itself. */
  | 'malformed'
  | 'foreign-chain'
  | 'foreign-pool'
  /** The verifier's challenge is missing from the document, or it is another one. */
  | 'other-challenge'
  /** The document was made for a challenge, and the verifier named none. */
  | 'challenge-not-given'
  /** issuedAt is more than five minutes ahead. */
  | 'not-yet-valid'
  | 'expired'
  /** The signature is not of the discloser, or a part of the document was changed. */
  | 'signature-rejected'
  /** The chain has no such batch or spend. */
  | 'not-on-chain'
  /** The batch or spend is in another transaction, or is of the other kind. */
  | 'other-transaction'
  /** Slot 0 of a spend is its change. */
  | 'change'
  /** The chain has another commitment in the slot, or none. */
  | 'other-commitment'
  /** The opening does not give the commitment. */
  | 'wrong-opening'
  /** The discloser is not the payer, or not the payee, of this payment. */
  | 'not-a-party'
  /** The document does not have this part. */
  | 'not-disclosed'
  /** The document's funder or change is not the one on chain. */
  | 'wrong-payer'
  /** The sealed notes are incomplete or changed. */
  | 'sealed-notes-mismatch'
  /** The secret does not open the sealed note, or not to this payment and memo. */
  | 'wrong-memo'
  /** No valid sign-in text binds the encryption key to the payee's wallet. */
  | 'key-not-confirmed';

/** Proved, with what is proved; or not, with the reason. */
export type Claim<TProved> =
  | ({ readonly state: 'proved' } & TProved)
  | { readonly state: 'not-proved'; readonly reason: DisclosureGap };

/** What is shown of one payment. */
export type PaymentClaims = {
  readonly txHash: Hex32;
  readonly index: number;
  readonly slot: number;
  /** The note is in the event of this transaction. */
  readonly exists: Claim<{ readonly commitment: Hex32 }>;
  /** Base units of the document's token. */
  readonly amount: Claim<{ readonly amount: bigint; readonly token: EvmAddress }>;
  /**
   * The sealed note contains this memo; null: none that can be read. The text is the payer's and may contain any character: escape it
   * before it is printed.
   */
  readonly memo: Claim<{ readonly memo: string | null }>;
  /** The funder of the batch, or the wallet that spent. */
  readonly payer: Claim<{ readonly address: EvmAddress; readonly walletPub: Hex | undefined }>;
  /** The wallet that owns the note, and its encryption key. */
  readonly payee: Claim<{
    readonly address: EvmAddress;
    readonly walletPub: Hex;
    readonly encryptionPublicKey: EncryptionPublicKey;
  }>;
};

/** The result of a verification. Confidential like the document. */
export type DisclosureReport = {
  /** Who signed, for what, and until when. If this is not proved, nothing is. */
  readonly discloser: Claim<{
    readonly role: 'payer' | 'payee';
    readonly address: EvmAddress;
    readonly walletPub: Hex;
    readonly purpose: string;
    readonly issuedAt: number;
    readonly expiresAt: number;
  }>;
  /** In the order of the document; empty if it is malformed. */
  readonly payments: readonly PaymentClaims[];
};

/** One event of the pool, from a final block of the verifier's own node or archive. */
export type InsertionFact = {
  readonly txHash: Hex32;
  /** Of the event's root in the note tree. */
  readonly index: number;
  /** All of the event, in slot order. */
  readonly commitments: readonly Field[];
  readonly sealedNotesHash: Hex32;
} & (
  | { readonly kind: 'batch'; readonly batchId: Field }
  /** `Spent`. */
  | { readonly kind: 'spend' }
);

/** What the verifier knows from its own sources. */
export type ChainFacts = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  /** At least those that the document names. */
  readonly insertions: readonly InsertionFact[];
  /** The platform whose sign-in texts bind an encryption key to a wallet. Undefined: such texts prove nothing. */
  readonly evidenceDomain?: EvidenceDomain | undefined;
};
