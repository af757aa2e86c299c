/**
 * The account file: what a browser stores of an account, as JSON. It has the account's public facts and its key slots. Each slot holds the
 * seed, sealed under a key that a passkey gives (key-slots.ts). Nothing in it is secret without a way to open it.
 *
 * Its MAC, under a key of the seed, covers every field. Whoever opens the account sees whether anyone changed, added or removed something.
 *
 * @module
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  bytesToHex,
  canonicalJson,
  computeWalletAddress,
  describeIssues,
  type EncryptionPublicKey,
  type EvmAddress,
  encryptionPublicKeySchema,
  hex32Schema,
  hexSchema,
  isoTimeSchema,
  labelPattern,
  PoolError,
  parseHex,
  parseStrictJson,
  parseWalletPub,
  parseWire,
  type WalletPub,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { deriveBytes, deriveWalletPub, type Seed } from './account.ts';

const slotSchema = v.strictObject({
  kind: v.literal('passkey'),
  /** The owner's name for it, for example "phone". */
  label: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.regex(labelPattern)),
  /** Id of the WebAuthn credential, at most 1,023 bytes. */
  credentialId: v.pipe(
    v.string(),
    v.maxLength(2 + 2 * 1023),
    v.regex(/^0x(?:[0-9a-f]{2})+$/),
    v.transform((value) => parseHex(value)),
  ),
  /** Input of the PRF: random, of this slot only. */
  salt: hex32Schema,
  nonce: hexSchema(12),
  /** The seed under AES-256-GCM: 32 bytes and a tag of 16. */
  sealedSeed: hexSchema(48),
  createdAt: isoTimeSchema,
  /** When the slot first opened the account after it was made. Null: never. */
  triedAt: v.nullable(isoTimeSchema),
});

const fileSchema = v.strictObject({
  format: v.literal('pool-account'),
  version: v.literal(1),
  /** Domain of the platform: P depends on it. */
  domain: v.pipe(v.string(), v.regex(/^[!-~]{1,255}$/)),
  walletPub: walletPubSchema,
  encryptionPublicKey: encryptionPublicKeySchema,
  createdAt: isoTimeSchema,
  /** When the owner first typed the recovery words. Null: never. */
  wordsTriedAt: v.nullable(isoTimeSchema),
  /** When a file with a password first opened the account. Null: never. */
  backupTriedAt: v.nullable(isoTimeSchema),
  /** Oldest first. */
  slots: v.pipe(v.array(slotSchema), v.maxLength(8)),
  /** HMAC-SHA256 of the canonical JSON of all other fields. */
  mac: hex32Schema,
});

/** A parsed account file. Its facts are authentic once the account was opened with it. Made by {@link parseAccountFile}. */
export type AccountFile = v.InferOutput<typeof fileSchema>;

/** A file whose MAC is absent, or that of its former content. */
type AccountContent = Omit<AccountFile, 'mac'> & Partial<Pick<AccountFile, 'mac'>>;

/** One way to open the account: public facts, and the sealed seed. */
export type AccountSlot = AccountFile['slots'][number];

/** Who the account is. Public. */
export type AccountIdentity = {
  readonly walletPub: WalletPub;
  /** The address of W, in checksum form. */
  readonly address: EvmAddress;
  /** P. */
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/**
 * Reads an account file. Without the seed nobody can check its MAC, so a changed file is refused when the account is opened.
 *
 * @throws PoolError `invalid_account_file`: not JSON, of a newer version, or malformed at the named place
 */
export function parseAccountFile(text: string): AccountFile {
  const value = parseJson(text);
  if (hasOtherVersion(value)) {
    throw refuse('it has a version that this page does not know; load the newest page');
  }
  const parsed = v.safeParse(fileSchema, value);
  if (!parsed.success) {
    throw refuse(`${describeIssues(parsed.issues)}; use another copy`);
  }
  if (!isPoint(parsed.output.walletPub)) {
    throw refuse('walletPub: is not a point on secp256k1; use another copy');
  }
  return parsed.output;
}

/** The file as JSON on one line. */
export function serializeAccountFile(file: AccountFile): string {
  return JSON.stringify(file);
}

/** Who the account of a file is, for a page that shows it before the account is open. */
export function readIdentity(file: AccountFile): AccountIdentity {
  const walletPub = parseWalletPub(file.walletPub);
  return {
    walletPub,
    address: computeWalletAddress(walletPub),
    encryptionPublicKey: file.encryptionPublicKey,
  };
}

/**
 * A file with the MAC of its content.
 * @throws PoolError `invalid_request` for content that the form does not allow, such as a label that nobody can read
 */
export function sealAccountFile(content: AccountContent, seed: Seed): AccountFile {
  return parseWire(fileSchema, { ...content, mac: computeMac(content, seed) }, 'account file');
}

/**
 * Checks that a seed is the account's, and that the file is as the account's owner left it.
 * @throws PoolError `account_not_opened` for the seed of another account; `invalid_account_file` for a changed file
 */
export function assertOwnFile(file: AccountFile, seed: Seed): void {
  if (deriveWalletPub(seed) !== file.walletPub) {
    throw new PoolError('account_not_opened', 'this is a way to open another account');
  }
  // Whoever could measure the comparison runs in the page, and has the seed.
  if (computeMac(file, seed) !== file.mac) {
    throw refuse(
      'it was changed after the account wrote it; use another copy, or recover the account from its words',
    );
  }
}

function computeMac({ mac: _former, ...content }: AccountContent, seed: Seed): string {
  const key = deriveBytes(seed, 'file-mac', 32);
  try {
    return bytesToHex(hmac(sha256, key, utf8ToBytes(canonicalJson(content))));
  } finally {
    key.fill(0);
  }
}

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text, 'it');
  } catch (cause) {
    throw refuse('it is not JSON with each key once; use another copy', cause);
  }
}

function hasOtherVersion(value: unknown): boolean {
  const { format, version } = (value ?? {}) as Partial<Record<string, unknown>>;
  return format === 'pool-account' && typeof version === 'number' && version > 1;
}

function isPoint(walletPub: string): boolean {
  try {
    parseWalletPub(walletPub);
    return true;
  } catch {
    return false;
  }
}

function refuse(problem: string, cause?: unknown): PoolError {
  return new PoolError('invalid_account_file', `the account file cannot be used: ${problem}`, {
    cause,
  });
}
