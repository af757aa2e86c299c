/**
 * The note (protocol §3): its commitment, which is published on chain, and its nullifier, which marks it as spent. Vectors:
 * vectors/note.json.
 *
 * @module
 */
import { type AssetId, type Field, maxAmount, PoolError } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import { nullifierTag } from '../hash/tags.ts';
import type { EncryptionPoint } from '../keys/encryption-key.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';

/** The contents of a commitment. Confidential as a whole. */
export type Note = {
  readonly assetId: AssetId;
  /** Base units, 0 … 2^128-1; 0 in dummies. */
  readonly amount: bigint;
  /** Unique by construction. Only payer and payee know it. */
  readonly nonce: Field;
  /** w of the owner. */
  readonly walletId: Field;
  /** The owner's encryption key. */
  readonly encryptionPoint: EncryptionPoint;
};

/**
 * c = H_6(assetId, amount, nonce, w, Px, Py). Public.
 * @throws PoolError `invalid-amount` for an amount outside 0 … 2^128-1, `invalid_field_element`
 */
export function computeCommitment(note: Note): Field {
  const { assetId, amount, nonce, walletId, encryptionPoint } = note;
  if (amount < 0n || amount > maxAmount) {
    throw new PoolError('invalid-amount', 'a note amount must be 0 to 2^128-1 base units');
  }
  return poseidon([assetId, amount, nonce, walletId, encryptionPoint.x, encryptionPoint.y]);
}

/**
 * nf = H_5(TAG_NULLIFIER, assetId, nonce, v, w). It contains v, so the payer who chose the nonce cannot recognise the spend. It
 * contains w, so a thief of v cannot burn the note under another wallet. It contains assetId, so a payer who uses one nonce in
 * two pools or on two chains cannot link the two spends by one nullifier. Public once spent, secret before.
 *
 * @throws PoolError `invalid_viewing_key`, `invalid_field_element`
 */
export function computeNullifier(parts: {
  readonly assetId: AssetId;
  readonly nonce: Field;
  /** v, secret. */
  readonly viewingKey: bigint;
  readonly walletId: Field;
}): Field {
  const { assetId, nonce, viewingKey, walletId } = parts;
  return poseidon([nullifierTag, assetId, nonce, assertViewingKey(viewingKey), walletId]);
}
