/**
 * What a manifest file says, recomputed: everything that may be signed for it. Only `rebuildManifest` makes these values.
 *
 * @module
 */
import type {
  AssetId,
  EncryptionPublicKey,
  EvidenceDomain,
  EvmAddress,
  Field,
  FundAuthorization,
  FundFile,
  Hex32,
  SpendFile,
  WalletPub,
} from '@pool/core';
import type { SpendOperation } from '@pool/notes';

/** A payee whose own wallet signed for its encryption key. */
export type RebuiltPayee = {
  readonly address: EvmAddress;
  readonly walletPub: WalletPub;
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** Base units. */
  readonly amount: bigint;
  /** Date of the evidence, milliseconds. The decision refuses one that is dated ahead. */
  readonly issuedAtMs: number;
};

type RebuiltOf<TKind extends string, TFile> = {
  readonly kind: TKind;
  /** Secret. */
  readonly file: TFile;
  readonly manifestDigest: Hex32;
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly token: EvmAddress;
  /** In the order of the manifest. Confidential. */
  readonly payees: readonly RebuiltPayee[];
  /** The platform that the evidence was verified for. */
  readonly evidence: EvidenceDomain;
};

/** A batch. Confidential, except for the authorisation and the digests. */
export type RebuiltFund = RebuiltOf<'fund', FundFile> & {
  readonly funder: EvmAddress;
  /** Base units, 1 to 2^128-1. */
  readonly total: bigint;
  readonly authorization: FundAuthorization;
  readonly fundDigest: Hex32;
  readonly voidDigest: Hex32;
  readonly batchNonce: Field;
  readonly batchId: Field;
  /** Lower case. */
  readonly employerId: string;
  readonly jobKey: string;
  readonly attempt: number;
  /** {@link computeRosterDigest}. */
  readonly rosterDigest: Hex32;
  /** Label part of the job key. Undefined: the key has none. */
  readonly payRunLabel: string | undefined;
};

/** A transfer, a withdrawal or a merge. Secret: `salt`, `digest`. */
export type RebuiltSpend = RebuiltOf<'spend', SpendFile> & {
  readonly walletPub: WalletPub;
  /** address(W). */
  readonly address: EvmAddress;
  readonly assetId: AssetId;
  readonly operation: SpendOperation;
  /** 31 bytes, secret. */
  readonly salt: Uint8Array;
  /** m, which the holder signs; secret. */
  readonly digest: Hex32;
  readonly changeEncryptionPublicKey: EncryptionPublicKey;
  /** Every nullifier of the spend, those of dummies too, in the order of the inputs. */
  readonly nullifiers: readonly Hex32[];
  /** What leaves for others: withdrawal and payees, base units. */
  readonly sent: bigint;
  readonly withdrawAmount: bigint;
  readonly recipient: EvmAddress | undefined;
  /** Unix seconds. */
  readonly deadline: number;
};

export type RebuiltManifest = RebuiltFund | RebuiltSpend;
