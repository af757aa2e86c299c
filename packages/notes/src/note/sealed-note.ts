/**
 * Sealed notes (protocol §3). A payer sends amount, nonce and memo to the owner of P through a platform that must not learn them.
 * 209 bytes: suite ‖ ephemeral key (32) ‖ ciphertext (160) ‖ tag (16). Sources: RFC 5869 (HKDF), RFC 8439 (ChaCha20-Poly1305),
 * draft-irtf-cfrg-xchacha-03 (XChaCha20). Vectors: vectors/sealed-note.json.
 *
 * Only suite 1 (Baby Jubjub) is implemented. Suite 2 (X25519) belongs to ed25519 wallets, for which no pool exists yet. On an EVM
 * chain, a note of suite 2 belongs to no holder.
 *
 * @module
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  type AssetId,
  bigintToBytes,
  bytesToBigint,
  bytesToHex,
  type EncryptionPublicKey,
  type Field,
  type Hex,
  hexToBytes,
  isField,
  maxAmount,
  maxMemoBytes,
  PoolError,
} from '@pool/core';
import { multiplyBase, subgroupOrder } from '../keys/baby-jubjub.ts';
import { exchangeWithKey, packSubgroupPoint } from '../keys/encryption-key.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';
import { computeCommitment } from './note.ts';

/** Every sealed note has this length, so that none can be distinguished. */
const sealedNoteBytes = 209;

const suiteBabyJubjub = 1;
const plaintextBytes = 160;
const memoOffset = 49;
/** HKDF's info for the key of a sealed note. */
export const sealKeyInfo: Uint8Array = utf8ToBytes('pool/v1/seal');
// One key encrypts one message: the key depends on a fresh ephemeral scalar. The cipher's nonce can therefore be constant.
const zeroNonce = new Uint8Array(24);

/** The contents that the owner reads. Confidential. */
export type OpenedNote = {
  /** Base units. */
  readonly amount: bigint;
  readonly nonce: Field;
  /** Absent if the payer wrote no memo, or bytes that are not a memo. */
  readonly memo: string | undefined;
};

/** A note before it is sealed to P. Confidential. */
type UnsealedNote = {
  readonly amount: bigint;
  readonly nonce: Field;
  readonly memo?: string | undefined;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly commitment: Field;
  readonly assetId: AssetId;
  readonly ephemeral: bigint;
};

/**
 * Seals a note to P, bound to its commitment and asset.
 *
 * @param note.ephemeral - 1 … l-1, secret, never used for another message
 * @throws PoolError `invalid_encryption_key`, `invalid-amount`, `invalid_field_element`, `invalid_value`
 */
export function sealNote(note: UnsealedNote): Hex {
  if (note.ephemeral < 1n || note.ephemeral >= subgroupOrder) {
    throw new PoolError('invalid_value', 'the ephemeral scalar must be from 1 to below l');
  }
  const { own, shared } = exchangeWithKey(note.encryptionPublicKey, note.ephemeral);
  const header = concatBytes(Uint8Array.of(suiteBabyJubjub), own);
  const key = deriveSealKey(shared, header, note);
  const box = xchacha20poly1305(key, zeroNonce).encrypt(encodePlaintext(note));
  return bytesToHex(concatBytes(header, box));
}

/**
 * Opens a note and recomputes its commitment, so that a note invented by the platform never counts. The caller must still check
 * the commitment's path to a root known on chain, and that its nullifier is unspent.
 *
 * @param note.sealed - as served; untrusted
 * @param note.viewingKey - v, secret
 * @returns undefined if the note is not this holder's (another key, suite, wallet, commitment or asset) or the bytes are not a
 *   sealed note. These are results, not errors, because one bad note must not stop a scan
 * @throws PoolError `invalid_viewing_key`, `invalid_field_element`: mistakes of the caller
 *
 * @example
 * const note = openNote({ sealed, viewingKey, walletId, commitment, assetId });
 * const received = note === undefined ? 0n : note.amount; // undefined: another holder's note
 */
export function openNote(note: {
  readonly sealed: string;
  readonly viewingKey: bigint;
  readonly walletId: Field;
  /** As served. A value that is not a field element opens nothing. */
  readonly commitment: bigint;
  readonly assetId: bigint;
}): OpenedNote | undefined {
  const { commitment, assetId } = note;
  const encryptionPoint = multiplyBase(assertViewingKey(note.viewingKey));
  const encryptionPublicKey = packSubgroupPoint(encryptionPoint);
  const bytes = decodeSealed(note.sealed);
  if (bytes === undefined || !isField(commitment) || !isField(assetId)) {
    return undefined;
  }
  const header = bytes.subarray(0, 33);
  let key: Uint8Array;
  try {
    key = deriveOwnSealKey(header, note.viewingKey, { encryptionPublicKey, commitment, assetId });
  } catch {
    return undefined;
  }
  const plaintext = decryptWithKey(bytes, key);
  const opened = plaintext === undefined ? undefined : decodePlaintext(plaintext);
  if (opened === undefined) {
    return undefined;
  }
  const { amount, nonce } = opened;
  const { walletId } = note;
  const held = computeCommitment({ assetId, amount, nonce, walletId, encryptionPoint });
  return held === commitment ? opened : undefined;
}

/** The data that the key of a sealed note is bound to: suite ‖ ephemeral ‖ P ‖ commitment ‖ assetId. Public. */
export function computeSealSalt(
  header: Uint8Array,
  bound: {
    readonly encryptionPublicKey: EncryptionPublicKey;
    readonly commitment: Field;
    readonly assetId: AssetId;
  },
): Uint8Array {
  return concatBytes(
    header,
    hexToBytes(bound.encryptionPublicKey, 32),
    bigintToBytes(bound.commitment, 32),
    bigintToBytes(bound.assetId, 32),
  );
}

/**
 * The key of one sealed note.
 * @param shared - the packed Diffie–Hellman result; secret
 * @returns 32 bytes, secret
 */
export function deriveSealKey(
  shared: Uint8Array,
  header: Uint8Array,
  bound: Parameters<typeof computeSealSalt>[1],
): Uint8Array {
  return hkdf(sha256, shared, computeSealSalt(header, bound), sealKeyInfo, 32);
}

/** amount (16) ‖ nonce (32) ‖ memo length (1) ‖ memo (111, zero padded). */
function encodePlaintext(note: {
  readonly amount: bigint;
  readonly nonce: Field;
  readonly memo?: string | undefined;
}): Uint8Array {
  if (note.amount < 0n || note.amount > maxAmount) {
    throw new PoolError('invalid-amount', 'a note amount must be 0 to 2^128-1 base units');
  }
  if (!isField(note.nonce)) {
    throw new PoolError('invalid_field_element', 'the nonce must be a canonical field element');
  }
  const memo = utf8ToBytes(note.memo ?? '');
  if (memo.length > maxMemoBytes) {
    throw new PoolError('invalid_value', `a memo must be at most ${maxMemoBytes} bytes of UTF-8`);
  }
  const plaintext = new Uint8Array(plaintextBytes);
  plaintext.set(bigintToBytes(note.amount, 16), 0);
  plaintext.set(bigintToBytes(note.nonce, 32), 16);
  plaintext[memoOffset - 1] = memo.length;
  plaintext.set(memo, memoOffset);
  return plaintext;
}

/** The decoded contents. Undefined if the nonce is not a field element. The caller must check the commitment. */
export function decodePlaintext(plaintext: Uint8Array): OpenedNote | undefined {
  const amount = bytesToBigint(plaintext.subarray(0, 16));
  const nonce = bytesToBigint(plaintext.subarray(16, 48));
  return isField(nonce) ? { amount, nonce, memo: decodeMemo(plaintext) } : undefined;
}

// A malformed memo must not cost the owner the note: amount and nonce alone open the commitment.
function decodeMemo(plaintext: Uint8Array): string | undefined {
  const length = plaintext[memoOffset - 1] ?? 0;
  if (length === 0 || length > maxMemoBytes) {
    return undefined;
  }
  try {
    const bytes = plaintext.subarray(memoOffset, memoOffset + length);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The bytes of a sealed note of suite 1, undefined for anything else. */
export function decodeSealed(sealed: string): Uint8Array | undefined {
  try {
    const bytes = hexToBytes(sealed, sealedNoteBytes);
    return bytes[0] === suiteBabyJubjub ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** The same key, from v. @throws PoolError `invalid_encryption_key` if the ephemeral key is not a point of the subgroup */
export function deriveOwnSealKey(
  header: Uint8Array,
  viewingKey: bigint,
  bound: Parameters<typeof computeSealSalt>[1],
): Uint8Array {
  const { shared } = exchangeWithKey(bytesToHex(header.subarray(1)), viewingKey);
  return deriveSealKey(shared, header, bound);
}

/** @returns undefined if the key is not the one of these 209 bytes */
export function decryptWithKey(bytes: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  try {
    return xchacha20poly1305(key, zeroNonce).decrypt(bytes.subarray(33));
  } catch {
    return undefined;
  }
}
