/**
 * One slot of a batch or of a spend (protocol §3): its owner, its nonce, its commitment and its sealed note. Fund proofs and spend
 * proofs build their notes alike, with different bases and seed labels.
 *
 * @module
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import {
  type AssetId,
  bytesToHex32,
  computeAssetId,
  type EncryptionPublicKey,
  type Field,
  type FundManifest,
  fieldModulus,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
  parseAmount,
  parseEvmAddress,
} from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import { multiplyBase } from '../keys/baby-jubjub.ts';
import {
  decodeEncryptionPublicKey,
  type EncryptionPoint,
  packSubgroupPoint,
} from '../keys/encryption-key.ts';
import type { SeedKind, SeedSource } from '../keys/seed.ts';
import { computeWalletId } from '../keys/wallet-id.ts';
import { computeCommitment } from './note.ts';
import { sealNote } from './sealed-note.ts';

/** One slot. Confidential, except for the commitment. */
export type NoteSlot = {
  readonly slot: number;
  /** Index in the manifest's list of payees. Undefined for a dummy, and for the change of a spend. */
  readonly recipientIndex: number | undefined;
  /** Base units; 0 for a dummy. */
  readonly amount: bigint;
  readonly nonce: Field;
  readonly walletId: Field;
  readonly encryptionPoint: EncryptionPoint;
  readonly commitment: Field;
};

/** A sealed note and the key that it is sealed to, as the platform stores it. */
export type AddressedSealedNote = {
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly sealed: Hex;
};

/** The contents of a slot before its nonce is known. */
export type Payee = {
  readonly recipientIndex: number | undefined;
  readonly amount: bigint;
  readonly memo: string | undefined;
  readonly walletId: Field;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly encryptionPoint: EncryptionPoint;
};

/** The contents of the slot that pays an entry of a manifest. */
export function readPayee(
  entry: Pick<
    FundManifest['recipients'][number],
    'walletPub' | 'encryptionPublicKey' | 'amount' | 'memo'
  >,
  recipientIndex: number,
): Payee {
  const { walletPub, encryptionPublicKey, amount, memo } = entry;
  return {
    recipientIndex,
    amount: parseAmount(amount),
    memo,
    walletId: computeWalletId(walletPub),
    encryptionPublicKey,
    encryptionPoint: decodeEncryptionPublicKey(encryptionPublicKey),
  };
}

/** @throws PoolError `duplicate-recipient` */
export function assertDistinct(payees: readonly Payee[], what: 'batch' | 'spend'): void {
  if (new Set(payees.map(({ walletId }) => walletId)).size !== payees.length) {
    throw new PoolError(
      'duplicate-recipient',
      `a wallet occurs twice; a ${what} pays each wallet once`,
    );
  }
}

/** assetId of a manifest's chain, pool and token. @throws PoolError `invalid-address` */
export function computeManifestAssetId({
  chainId,
  pool,
  token,
}: Pick<FundManifest, 'chainId' | 'pool' | 'token'>): AssetId {
  return computeAssetId(chainId, parseEvmAddress(pool), parseEvmAddress(token));
}

/**
 * A note with amount 0 for no recipient: a random wallet id, and a key whose scalar is not stored anywhere except in the seed.
 */
export function deriveDummy(source: SeedSource, kind: SeedKind, slot: number): Payee {
  const encryptionPoint = multiplyBase(source.deriveScalar(`pool/v1/${kind}/dummy-key`, slot));
  return {
    recipientIndex: undefined,
    amount: 0n,
    memo: undefined,
    walletId: source.deriveField(`pool/v1/${kind}/dummy-wallet`, slot),
    encryptionPublicKey: packSubgroupPoint(encryptionPoint),
    encryptionPoint,
  };
}

/**
 * Computes nonce, commitment and sealed note of a slot.
 * @param parts.base - nonce_i = H_1(base + i)
 */
export function fillSlot(parts: {
  readonly payee: Payee;
  readonly slot: number;
  readonly assetId: AssetId;
  readonly base: Field;
  readonly source: SeedSource;
  readonly kind: SeedKind;
}): { slot: NoteSlot; sealedNote: AddressedSealedNote } {
  const { payee, slot, assetId, base, source, kind } = parts;
  const { recipientIndex, amount, walletId, encryptionPoint, encryptionPublicKey, memo } = payee;
  const nonce = poseidon([(base + BigInt(slot)) % fieldModulus]);
  const commitment = computeCommitment({ assetId, amount, nonce, walletId, encryptionPoint });
  const ephemeral = source.deriveScalar(`pool/v1/${kind}/ephemeral`, slot);
  const sealed = sealNote({
    amount,
    nonce,
    memo,
    encryptionPublicKey,
    commitment,
    assetId,
    ephemeral,
  });
  return {
    slot: { slot, recipientIndex, amount, nonce, walletId, encryptionPoint, commitment },
    sealedNote: { encryptionPublicKey, sealed },
  };
}

/** keccak256 over the sealed notes of a batch or a spend in slot order, including dummies. Public. */
export function computeSealedNotesHash(sealedNotes: readonly Hex[]): Hex32 {
  return bytesToHex32(keccak_256(concatBytes(...sealedNotes.map((sealed) => hexToBytes(sealed)))));
}
