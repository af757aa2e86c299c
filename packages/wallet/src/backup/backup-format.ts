/**
 * The form of a backup (docs/decisions/0013). The file is one age file (age-encryption.org/v1). Its plaintext is: the magic line, the
 * length of the manifest (4 bytes, big-endian), the manifest as JSON, and the parts one after the other in the manifest's order.
 *
 * Whoever knows the recipient of an age file can make another one, so the manifest also has a MAC under a key that derives from the
 * holder's viewing key.
 *
 * @module
 */
import { equalBytes } from '@noble/ciphers/utils.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bigintToBytes, bigintToHex32, canonicalJson, PoolError } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey } from '@pool/notes';
import * as v from 'valibot';

/** Begins every plaintext. Another version of the form gets another line. */
export const backupMagic = 'pool-backup/1\n';

/** Largest manifest that is read, in bytes. */
export const maxManifestBytes = 1024 * 1024;

/** Names of the parts that hold the viewing keys. They are small, and read into memory. */
export const viewingKeyPart = 'viewing-key.json';
export const earlierViewingKeysPart = 'earlier-viewing-keys.json';

/** W's private key, and the recovery words: in the file of an account that a page made (docs/decisions/0022), not in an agent's backup. */
export const walletKeyPart = 'holder.key';
export const recoveryWordsPart = 'recovery-words.txt';

/** Fewest characters of a passphrase that encrypts a backup. */
export const minPassphrase = 16;

const hex32 = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const partSchema = v.strictObject({
  /** Name of the file in the agent directory, without a path. */
  name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)),
  bytes: count,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** Rows by table, for a person who compares. Empty for a file that is no database. */
  counts: v.record(v.pipe(v.string(), v.maxLength(64)), count),
});
export type BackupPart = v.InferOutput<typeof partSchema>;

const holderSchema = v.strictObject({
  /** W. Absent: the backup was made with a viewing key alone. */
  walletPub: v.optional(v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64,66}$/))),
  address: v.optional(v.pipe(v.string(), v.maxLength(64))),
  signer: v.pipe(v.string(), v.maxLength(32)),
  /** P. */
  encryptionPublicKey: hex32,
  earlierEncryptionPublicKeys: v.array(hex32),
});
export type BackupHolder = v.InferOutput<typeof holderSchema>;

export const manifestSchema = v.strictObject({
  format: v.literal('pool-backup'),
  version: v.literal(1),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  agentVersion: v.pipe(v.string(), v.maxLength(64)),
  /** Null: this agent has no holder, and so no viewing key. */
  holder: v.nullable(holderSchema),
  /** Null: no employer is pinned. */
  employerId: v.nullable(v.pipe(v.string(), v.uuid())),
  parts: v.pipe(v.array(partSchema), v.maxLength(1000)),
  /** HMAC-SHA256 of the manifest without this field. Null: without a holder there is no key for it. */
  mac: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
});
export type BackupManifest = v.InferOutput<typeof manifestSchema>;

/** @param viewingKey - v, secret. @returns 64 hex digits */
export function computeManifestMac(
  manifest: Omit<BackupManifest, 'mac'>,
  viewingKey: bigint,
): string {
  const ikm = bigintToBytes(viewingKey, 32);
  try {
    const key = hkdf(sha256, ikm, undefined, utf8ToBytes('pool/v1/backup'), 32);
    return bytesToHex(hmac(sha256, key, utf8ToBytes(canonicalJson(manifest))));
  } finally {
    ikm.fill(0);
  }
}

export function isManifestAuthentic(manifest: BackupManifest, viewingKey: bigint): boolean {
  const { mac, ...rest } = manifest;
  return (
    mac !== null && equalBytes(hexToBytes(mac), hexToBytes(computeManifestMac(rest, viewingKey)))
  );
}

/** A viewing key as the document that DISBURSE_HOLDER_VIEWING_KEY_FILE can name. @param viewingKey - v, secret */
export function describeViewingKey(viewingKey: bigint): string {
  const document = {
    scalar: bigintToHex32(viewingKey),
    encryptionPublicKeys: {
      babyjubjub: computeEncryptionPublicKey(viewingKey),
      x25519: computeX25519PublicKey(viewingKey),
    },
  };
  return JSON.stringify(document, null, 2);
}

/** The bytes before the parts. */
export function encodeHead(manifest: BackupManifest): Uint8Array {
  const json = utf8ToBytes(JSON.stringify(manifest));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length);
  return concatBytes(utf8ToBytes(backupMagic), length, json);
}

/** @throws PoolError `restore_refused` */
export function decodeManifest(json: Uint8Array): BackupManifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(json));
  } catch {
    // The parser's error would quote the text.
    throw createDamaged('its manifest is not JSON');
  }
  const parsed = v.safeParse(manifestSchema, value);
  if (!parsed.success) {
    throw createDamaged('its manifest has a form that this version does not know');
  }
  const names = parsed.output.parts.map(({ name }) => name);
  if (new Set(names).size !== names.length) {
    throw createDamaged('it has two parts of one name');
  }
  return parsed.output;
}

export function createDamaged(problem: string, cause?: unknown): PoolError {
  return new PoolError(
    'restore_refused',
    `the backup is damaged: ${problem}; use another copy, or an earlier backup`,
    { cause },
  );
}
