/**
 * What opens exactly one sealed note for an auditor (docs/disclosure.md, "The memo"). A payee shows the message key. A payer shows the
 * ephemeral scalar, which also proves that the owner of P can derive that key. Neither reveals v, or another note.
 *
 * @module
 */
import {
  type AssetId,
  bytesToBigint,
  bytesToHex,
  bytesToHex32,
  type EncryptionPublicKey,
  type Field,
  type Hex,
  type Hex32,
  hexToBytes,
  parseEncryptionPublicKey,
} from '@pool/core';
import { multiplyBase, subgroupOrder } from '../keys/baby-jubjub.ts';
import { exchangeWithKey, packSubgroupPoint } from '../keys/encryption-key.ts';
import {
  decodePlaintext,
  decodeSealed,
  decryptWithKey,
  deriveOwnSealKey,
  deriveSealKey,
  type OpenedNote,
} from '../note/sealed-note.ts';

/** What the key of a sealed note is bound to. */
export type SealBinding = {
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly commitment: Field;
  readonly assetId: AssetId;
};

/** The secret of one sealed note. */
export type SealSecret = {
  readonly proof: 'ephemeral-scalar' | 'message-key';
  readonly secret: Hex;
};

/**
 * The key of one sealed note, from v.
 * @param viewingKey - v, secret
 * @returns secret of this note; undefined if the bytes are not a sealed note of suite 1
 * @throws PoolError `invalid_encryption_key` if the ephemeral key is not a point of the subgroup
 */
export function computeMessageKey(
  sealed: Hex,
  viewingKey: bigint,
  bound: SealBinding,
): Hex32 | undefined {
  const header = decodeSealed(sealed)?.subarray(0, 33);
  return header === undefined
    ? undefined
    : bytesToHex32(deriveOwnSealKey(header, viewingKey, bound));
}

/**
 * Opens a sealed note with its own secret. The caller compares amount and nonce with the commitment: the first 48 bytes of the
 * plaintext are then fixed, so no second key gives another memo (docs/decisions/0013).
 * @returns undefined if the secret is not the one of this sealed note
 */
export function openWithSecret(
  sealed: Hex,
  { proof, secret }: SealSecret,
  bound: SealBinding,
): OpenedNote | undefined {
  const bytes = decodeSealed(sealed);
  if (bytes === undefined) {
    return undefined;
  }
  const header = bytes.subarray(0, 33);
  const key =
    proof === 'message-key' ? hexToBytes(secret, 32) : deriveFromScalar(header, secret, bound);
  const plaintext = key === undefined ? undefined : decryptWithKey(bytes, key);
  return plaintext === undefined ? undefined : decodePlaintext(plaintext);
}

function deriveFromScalar(
  header: Uint8Array,
  secret: Hex,
  bound: SealBinding,
): Uint8Array | undefined {
  const scalar = bytesToBigint(hexToBytes(secret, 32));
  if (scalar < 1n || scalar >= subgroupOrder) {
    return undefined;
  }
  if (packSubgroupPoint(multiplyBase(scalar)) !== readEphemeral(header)) {
    return undefined;
  }
  const { shared } = exchangeWithKey(bound.encryptionPublicKey, scalar);
  return deriveSealKey(shared, header, bound);
}

function readEphemeral(header: Uint8Array): EncryptionPublicKey {
  return parseEncryptionPublicKey(bytesToHex(header.subarray(1)));
}
