/**
 * The file that opens an account with a password: the format and the encryption of an agent's backup (age, scrypt), which `disburse-agent
 * backup verify` and `restore` read too. Beside the viewing key it has what a backup of an agent never has, the recovery words and W's key:
 * whoever has file and password has the money.
 *
 * @module
 */
import { bytesToHex, PoolError } from '@pool/core';
import {
  backupMagic,
  computeManifestMac,
  decodeManifest,
  describeViewingKey,
  encodeHead,
  recoveryWordsPart,
  viewingKeyPart,
  walletKeyPart,
} from '@pool/wallet';
import {
  deriveWalletKey,
  formatRecoveryWords,
  openAccount,
  parseRecoveryWords,
  type Seed,
} from '@pool/wallet/browser';
import { Decrypter, Encrypter } from 'age-encryption';

/** @param options.password - secret. Its strength is the caller's to check */
export async function createBackupFile(options: {
  readonly seed: Seed;
  /** Of the platform: P depends on it. */
  readonly domain: string;
  readonly password: string;
  readonly nowMs: number;
}): Promise<Uint8Array> {
  const { seed, domain, password, nowMs } = options;
  const { walletPub, address, encryptionPublicKey, viewingKey, close } = await openAccount(
    seed,
    domain,
  );
  close();
  const walletKey = deriveWalletKey(seed).reveal();
  const texts = [
    [viewingKeyPart, describeViewingKey(viewingKey.reveal())],
    [walletKeyPart, bytesToHex(walletKey)],
    [recoveryWordsPart, formatRecoveryWords(seed).reveal()],
  ] as const;
  walletKey.fill(0);
  const contents = texts.map(([, text]) => new TextEncoder().encode(`${text}\n`));
  const parts = await Promise.all(
    texts.map(async ([name], index) => {
      const content = contents[index] ?? new Uint8Array();
      const sha256 = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
      return { name, bytes: content.length, sha256: bytesToHex(sha256).slice(2), counts: {} };
    }),
  );
  const unsigned = {
    format: 'pool-backup' as const,
    version: 1 as const,
    createdAt: new Date(nowMs).toISOString(),
    agentVersion: 'the page of payees',
    holder: {
      ...{ walletPub, address, signer: 'local-key', encryptionPublicKey },
      earlierEncryptionPublicKeys: [],
    },
    employerId: null,
    parts,
  };
  const mac = computeManifestMac(unsigned, viewingKey.reveal());
  const pieces = [encodeHead({ ...unsigned, mac }), ...contents];
  const plain = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  pieces.reduce((offset, piece) => {
    plain.set(piece, offset);
    piece.fill(0);
    return offset + piece.length;
  }, 0);
  try {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(password.normalize('NFC'));
    return await encrypter.encrypt(plain);
  } finally {
    plain.fill(0);
  }
}

/**
 * @param domain - of this page's platform
 * @returns the seed, which the caller wipes
 * @throws PoolError `account_not_opened` for another password or a changed file; `invalid_account_file` for a backup of something else;
 *   `invalid_configuration` for an account of another platform
 */
export async function openBackupFile(
  bytes: Uint8Array,
  password: string,
  domain: string,
): Promise<Seed> {
  const plain = await decrypt(bytes, password);
  try {
    const { holder, words } = readWords(plain);
    const seed = parseRecoveryWords(words);
    const { walletPub, encryptionPublicKey, close } = await openAccount(seed, domain);
    close();
    if (holder?.walletPub === walletPub && holder.encryptionPublicKey === encryptionPublicKey) {
      return seed;
    }
    seed.reveal().fill(0);
    if (holder?.walletPub !== walletPub) {
      throw refuse('its words are not those of its wallet');
    }
    throw new PoolError(
      'invalid_configuration',
      `the account is of another platform than ${domain}, where it would not find its payments`,
    );
  } finally {
    plain.fill(0);
  }
}

async function decrypt(bytes: Uint8Array, password: string): Promise<Uint8Array> {
  try {
    const decrypter = new Decrypter();
    decrypter.addPassphrase(password.normalize('NFC'));
    return await decrypter.decrypt(bytes);
  } catch {
    throw new PoolError(
      'account_not_opened',
      'the password does not open this file, or the file was changed',
    );
  }
}

/** Nobody without the password made this text, so its lengths are enough. */
function readWords(plain: Uint8Array) {
  const text = new TextDecoder();
  const start = backupMagic.length + 4;
  if (plain.length < start || text.decode(plain.subarray(0, start - 4)) !== backupMagic) {
    throw refuse('it is no backup of this version');
  }
  const end = start + new DataView(plain.buffer, plain.byteOffset).getUint32(start - 4);
  const { holder, parts } = parseManifest(plain.subarray(start, end));
  let offset = end;
  for (const { name, bytes } of parts) {
    if (name === recoveryWordsPart) {
      return { holder, words: text.decode(plain.subarray(offset, offset + bytes)) };
    }
    offset += bytes;
  }
  throw refuse('it is the backup of an agent, which has no key of its wallet');
}

function parseManifest(json: Uint8Array) {
  try {
    return decodeManifest(json);
  } catch (cause) {
    throw refuse('its manifest cannot be read', cause);
  }
}

function refuse(problem: string, cause?: unknown): PoolError {
  return new PoolError('invalid_account_file', `this file opens no account: ${problem}`, { cause });
}
