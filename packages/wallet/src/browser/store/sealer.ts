/**
 * Seals what a browser keeps: AES-256-GCM under the key of the database. A copy of the browser's profile
 * shows how many records there are, their sizes and when they changed, and nothing that they say.
 *
 * Everything is computed at once, without a promise: a transaction of IndexedDB ends as soon as its page waits for anything else.
 *
 * @module
 */
import { gcm } from '@noble/ciphers/aes.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { PoolError } from '@pool/core';
import type { BrowserDatabase } from './browser-database.ts';

export type Sealer = {
  /**
   * The name under which something is stored. It shows nothing about it, and the same text always has the same name.
   * @param table - what kind of thing it is
   */
  nameOf(table: string, text: string): string;
  /**
   * @param place - where the bytes are stored: they open at no other place
   * @returns nonce (12 bytes), ciphertext, tag (16 bytes)
   */
  seal(place: string, text: string): Uint8Array;
  /** @returns undefined: they were not sealed for that place under this key */
  open(place: string, sealed: unknown): string | undefined;
  /** Nothing can be sealed or opened any more. */
  wipe(): void;
};

const nonceBytes = 12;
const nameBytes = 16;

/** Encrypts and decrypts with AES-256-GCM in WebCrypto. */
export type StorageKey = Parameters<typeof globalThis.crypto.subtle.encrypt>[1];

/** The key of a database, sealed under the storage key of its account. */
const keyRow: [string, string] = ['database-key', ''];

/**
 * The sealer of a database. The database has a random key of its own, which it keeps sealed under the storage key.
 * @throws PoolError `store_damaged` if the database belongs to another account, or its key was changed
 */
export async function openSealer(
  database: BrowserDatabase,
  storageKey: StorageKey,
): Promise<Sealer> {
  const fresh = await wrapKey(storageKey, randomBytes(32));
  // Of two tabs that begin at once, the first one decides.
  const wrapped = await database.write('records', async (rows) => {
    const stored = await rows.get(keyRow);
    if (stored === undefined) {
      await rows.put(fresh, keyRow);
    }
    return stored ?? fresh;
  });
  const key = await unwrapKey(storageKey, wrapped);
  try {
    return createSealer(key);
  } finally {
    key.fill(0);
  }
}

/** @param key - secret, wiped here */
async function wrapKey(storageKey: StorageKey, key: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const iv = randomBytes(nonceBytes);
  try {
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, storageKey, key);
    return concatBytes(iv, new Uint8Array(sealed));
  } finally {
    key.fill(0);
  }
}

async function unwrapKey(storageKey: StorageKey, wrapped: Uint8Array): Promise<Uint8Array> {
  const bytes = Uint8Array.from(wrapped);
  const [iv, sealed] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes)];
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, storageKey, sealed));
  } catch {
    throw new PoolError(
      'store_damaged',
      'the data that this browser keeps belongs to another account, or was changed; remove the data of this page, and restore the account from its recovery words',
    );
  }
}

/** @param key - 32 bytes, secret. The caller wipes them; this keeps none of them */
export function createSealer(key: Uint8Array): Sealer {
  const derive = (use: string): Uint8Array =>
    hkdf(sha256, key, undefined, utf8ToBytes(`pool/v1/browser-store/${use}`), 32);
  const sealingKey = derive('seal');
  const namingKey = derive('name');
  let isWiped = false;

  function assertOpen(): void {
    if (isWiped) {
      throw new PoolError('stopping', 'the wallet was closed; open it again');
    }
  }

  return {
    nameOf(table, text) {
      assertOpen();
      const name = hmac(sha256, namingKey, utf8ToBytes(JSON.stringify([table, text])));
      return bytesToHex(name.subarray(0, nameBytes));
    },
    seal(place, text) {
      assertOpen();
      const nonce = randomBytes(nonceBytes);
      return concatBytes(
        nonce,
        gcm(sealingKey, nonce, utf8ToBytes(place)).encrypt(utf8ToBytes(text)),
      );
    },
    open(place, sealed) {
      assertOpen();
      if (!(sealed instanceof Uint8Array) || sealed.length < nonceBytes) {
        return undefined;
      }
      try {
        const cipher = gcm(sealingKey, sealed.subarray(0, nonceBytes), utf8ToBytes(place));
        return new TextDecoder().decode(cipher.decrypt(sealed.subarray(nonceBytes)));
      } catch {
        return undefined;
      }
    },
    wipe() {
      isWiped = true;
      sealingKey.fill(0);
      namingKey.fill(0);
    },
  };
}
