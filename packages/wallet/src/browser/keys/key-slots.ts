/**
 * The ways to open an account: key slots, which seal the seed under a passkey's PRF output, and the recovery words, which are the seed.
 *
 *     slot key = HKDF-SHA256(ikm = PRF output, salt = the slot's salt, info "pool/v1/account/slot", 32 bytes)
 *     sealed   = AES-256-GCM(slot key, nonce, seed), associated data: canonical JSON of the account's facts and the slot's
 *
 * A change of the file needs the seed. Every function returns a new file, which the caller stores. Removing a slot revokes nothing in
 * older copies of the file: they open with their passkeys, and reveal the same seed.
 *
 * @module
 */
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  bytesToHex,
  bytesToHex32,
  canonicalJson,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
  Secret,
} from '@pool/core';
import { importSealKey, openAccount, revealSeed, type Seed, type StorageKey } from './account.ts';
import {
  type AccountFile,
  type AccountSlot,
  assertOwnFile,
  sealAccountFile,
} from './account-file.ts';
import { parseRecoveryWords } from './recovery-words.ts';

/** What a passkey gave. */
export type SlotKey = {
  readonly credentialId: Hex;
  /** PRF output for the slot's salt: 32 bytes, secret. The caller wipes it. */
  readonly prf: Uint8Array;
};

/** A slot to be made. */
export type NewSlot = SlotKey & {
  /** The salt that `prf` is the output for: a new one of {@link createSlotSalt}. */
  readonly salt: Hex32;
  /** The owner's name for the passkey: 1 to 64 visible characters. */
  readonly label: string;
};

/** An account that a slot or the recovery words opened. */
export type OpenedAccountFile = {
  /** The caller wipes it. */
  readonly seed: Seed;
  /** The file, which now says that this way was tried. The caller stores it. */
  readonly file: AccountFile;
};

/** The PRF's input for a slot that is to be made. Public. */
export function createSlotSalt(): Hex32 {
  return bytesToHex32(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * The file of a new account, or of one that was recovered from its words, with its first slot.
 * @param options.domain - of the platform
 * @throws PoolError `invalid_value`, `invalid_request`
 */
export async function createAccountFile(options: {
  readonly seed: Seed;
  readonly domain: string;
  readonly slot: NewSlot;
  readonly nowMs: number;
}): Promise<AccountFile> {
  const { seed, domain, slot, nowMs } = options;
  const { walletPub, encryptionPublicKey, close } = await openAccount(seed, domain);
  close();
  const createdAt = formatTime(nowMs);
  const facts: Facts = {
    format: 'pool-account',
    version: 1,
    ...{ domain, walletPub, encryptionPublicKey, createdAt },
  };
  const sealed = await sealSlot(facts, seed, slot, nowMs);
  return sealAccountFile(
    { ...facts, wordsTriedAt: null, backupTriedAt: null, slots: [sealed] },
    seed,
  );
}

/**
 * The file with one more passkey.
 * @throws PoolError `invalid_value` if the file has the passkey; `invalid_request` for a label that nobody can read, or too many slots;
 *   `account_not_opened`, `invalid_account_file` as {@link openSlot}
 */
export async function addSlot(
  file: AccountFile,
  seed: Seed,
  slot: NewSlot,
  nowMs: number,
): Promise<AccountFile> {
  assertOwnFile(file, seed);
  if (findSlot(file, slot.credentialId) !== undefined) {
    throw new PoolError('invalid_value', 'this passkey opens the account already; use another one');
  }
  return sealAccountFile(
    { ...file, slots: [...file.slots, await sealSlot(file, seed, slot, nowMs)] },
    seed,
  );
}

/**
 * Opens the account with a passkey.
 * @throws PoolError `account_not_opened` for a passkey without a slot, a wrong PRF output, or a slot of another file; `invalid_account_file`
 *   if something else of the file was changed
 */
export async function openSlot(
  file: AccountFile,
  key: SlotKey,
  nowMs: number,
): Promise<OpenedAccountFile> {
  const slot = findSlot(file, key.credentialId);
  if (slot === undefined) {
    throw createNotOpened('the account has no slot for this passkey');
  }
  const seed = acceptSeed(file, await unsealSlot(file, slot, key.prf));
  const tried = { ...slot, triedAt: slot.triedAt ?? formatTime(nowMs) };
  const slots = file.slots.map((other) => (other === slot ? tried : other));
  return { seed, file: sealAccountFile({ ...file, slots }, seed) };
}

/**
 * Opens the account with its recovery words, as somebody typed them.
 * @param text - secret
 * @throws PoolError `invalid_recovery_words`; `account_not_opened` for the words of another account; `invalid_account_file`
 */
export function confirmRecoveryWords(
  file: AccountFile,
  text: string,
  nowMs: number,
): OpenedAccountFile {
  const seed = acceptSeed(file, parseRecoveryWords(text));
  const wordsTriedAt = file.wordsTriedAt ?? formatTime(nowMs);
  return { seed, file: sealAccountFile({ ...file, wordsTriedAt }, seed) };
}

/**
 * The file of an account that a file with a password opened.
 * @param seed - from that file. The caller wipes it
 * @throws PoolError `account_not_opened` for the seed of another account; `invalid_account_file`
 */
export function confirmBackup(file: AccountFile, seed: Seed, nowMs: number): AccountFile {
  assertOwnFile(file, seed);
  return sealAccountFile({ ...file, backupTriedAt: file.backupTriedAt ?? formatTime(nowMs) }, seed);
}

/**
 * The file without a passkey.
 * @throws PoolError `last_way_to_open` for the only passkey of an account that neither recovery words nor a backup opened; `invalid_value` for a
 *   passkey without a slot; `account_not_opened`, `invalid_account_file` as {@link openSlot}
 */
export function removeSlot(file: AccountFile, seed: Seed, credentialId: Hex): AccountFile {
  assertOwnFile(file, seed);
  const slots = file.slots.filter((slot) => slot.credentialId !== credentialId);
  if (slots.length === file.slots.length) {
    throw new PoolError('invalid_value', 'the account has no slot for this passkey');
  }
  if (slots.length === 0 && (file.wordsTriedAt ?? file.backupTriedAt) === null) {
    throw new PoolError(
      'last_way_to_open',
      'this passkey is the last way to open the account; type the recovery words once before you remove it',
    );
  }
  return sealAccountFile({ ...file, slots }, seed);
}

/**
 * True once the account has two ways to open it, and one other than its oldest passkey has opened it. Before that, a lost passkey is
 * lost money: the account must not be paid.
 */
export function isUsable({ slots, wordsTriedAt, backupTriedAt }: AccountFile): boolean {
  const [first, ...others] = slots;
  const isOtherTried =
    (wordsTriedAt ?? backupTriedAt) !== null || others.some(({ triedAt }) => triedAt !== null);
  return first !== undefined && isOtherTried;
}

/** Wipes a seed that is not the file's. */
function acceptSeed(file: AccountFile, seed: Seed): Seed {
  try {
    assertOwnFile(file, seed);
    return seed;
  } catch (error) {
    seed.reveal().fill(0);
    throw error;
  }
}

function findSlot({ slots }: AccountFile, credentialId: Hex): AccountSlot | undefined {
  return slots.find((slot) => slot.credentialId === credentialId);
}

type Facts = Pick<
  AccountFile,
  'format' | 'version' | 'domain' | 'walletPub' | 'encryptionPublicKey' | 'createdAt'
>;
type SlotFacts = Pick<AccountSlot, 'kind' | 'label' | 'credentialId' | 'salt' | 'createdAt'>;

async function sealSlot(
  facts: Facts,
  seed: Seed,
  { prf, ...given }: NewSlot,
  nowMs: number,
): Promise<AccountSlot> {
  const { label, credentialId, salt } = given;
  const slot = {
    kind: 'passkey',
    label,
    credentialId,
    salt,
    createdAt: formatTime(nowMs),
  } as const;
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce, additionalData: encodeFacts(facts, slot) },
    await deriveSlotKey(prf, salt),
    revealSeed(seed),
  );
  return {
    ...slot,
    nonce: bytesToHex(nonce),
    sealedSeed: bytesToHex(new Uint8Array(sealed)),
    triedAt: null,
  };
}

async function unsealSlot(facts: Facts, slot: AccountSlot, prf: Uint8Array): Promise<Seed> {
  const key = await deriveSlotKey(prf, slot.salt);
  const iv = Uint8Array.from(hexToBytes(slot.nonce, 12));
  try {
    const opened = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv, additionalData: encodeFacts(facts, slot) },
      key,
      Uint8Array.from(hexToBytes(slot.sealedSeed, 48)),
    );
    return new Secret(new Uint8Array(opened));
  } catch {
    throw createNotOpened('the passkey does not fit, or the account file was changed');
  }
}

async function deriveSlotKey(prf: Uint8Array, salt: Hex32): Promise<StorageKey> {
  if (prf.length !== 32) {
    throw new PoolError('invalid_value', 'the PRF output of a passkey must be 32 bytes');
  }
  const info = utf8ToBytes('pool/v1/account/slot');
  return await importSealKey(hkdf(sha256, prf, hexToBytes(salt, 32), info, 32));
}

/** What a slot is bound to: it opens no other account, and in no other place of the file. */
function encodeFacts(facts: Facts, slot: SlotFacts): Uint8Array<ArrayBuffer> {
  const { format, version, domain, walletPub, encryptionPublicKey, createdAt } = facts;
  const { kind, label, credentialId, salt } = slot;
  const account = { format, version, domain, walletPub, encryptionPublicKey, createdAt };
  const bound = { kind, label, credentialId, salt, createdAt: slot.createdAt };
  return utf8ToBytes(canonicalJson({ account, slot: bound }));
}

function createNotOpened(problem: string): PoolError {
  return new PoolError(
    'account_not_opened',
    `${problem}; use another passkey, or the recovery words`,
  );
}

function formatTime(nowMs: number): string {
  return new Date(nowMs).toISOString();
}
