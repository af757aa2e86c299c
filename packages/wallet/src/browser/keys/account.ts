/**
 * The keys of an account that a browser holds (docs/decisions/0022). Everything follows from one seed, 32 random bytes, by
 * HKDF-SHA256 (RFC 5869) without a salt:
 *
 *     wallet key   1 + (48 bytes, info "pool/v1/account/wallet-key", big-endian, mod (n-1)), n the order of secp256k1. Its public key is W
 *     gas key      like the wallet key, info "pool/v1/account/gas-key"
 *     storage key  32 bytes, info "pool/v1/account/storage-key"
 *     file key     32 bytes, info "pool/v1/account/file-mac"
 *
 * The viewing key follows from W's signature over the viewing-key text (protocol §2), so an agent with the wallet key has the same P.
 *
 * Arrays of secret bytes are wiped after use. Copies that the engine makes of strings and big integers cannot be wiped.
 *
 * @module
 */
import { mapHashToField } from '@noble/curves/abstract/modular.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  bytesToHex,
  computeWalletAddress,
  type EncryptionPublicKey,
  type EvmAddress,
  PoolError,
  parseWalletPub,
  Secret,
  type WalletPub,
} from '@pool/core';
import { computeEncryptionPublicKey, deriveViewingKey } from '@pool/notes';
import type { HolderSigner } from '@pool/signers/holder-signer';
import { createLocalKeyHolder } from '@pool/signers/local-key-holder';

/** 32 random bytes. Whoever has them has the account and its money. The owner wipes them. */
export type Seed = Secret<Uint8Array<ArrayBuffer>>;

/** A `CryptoKey` of WebCrypto for AES-256-GCM, which no code can export. */
export type StorageKey = Parameters<typeof globalThis.crypto.subtle.encrypt>[1];

/** An account whose seed is known: what it is, and what acts for it. */
export type OpenAccount = {
  /** W. Public. */
  readonly walletPub: WalletPub;
  /** The address of W, in checksum form. Public. */
  readonly address: EvmAddress;
  /** P. Public. */
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** Signs with W. After `close` it signs nothing. */
  readonly signer: HolderSigner;
  /** v, secret. */
  readonly viewingKey: Secret<bigint>;
  /** Pays the gas of withdrawals without the platform: the address of W would be public beside them. `0x` hex, secret. */
  readonly gasKey: Secret;
  /** Seals what the browser stores for the account. */
  readonly storageKey: StorageKey;
  /** Wipes the wallet key. The seed is its owner's to wipe. */
  close(): void;
};

/** A seed from the browser's random generator. */
export function createSeed(): Seed {
  return new Secret(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * The secp256k1 key of W: 32 bytes, secret. As `0x` hex it is what an agent reads as DISBURSE_HOLDER_PRIVATE_KEY. The caller wipes it.
 * @throws PoolError `invalid_value` for a wiped seed
 */
export function deriveWalletKey(seed: Seed): Secret<Uint8Array> {
  return deriveKey(seed, 'wallet-key');
}

function deriveKey(seed: Seed, purpose: 'wallet-key' | 'gas-key'): Secret<Uint8Array> {
  const wide = deriveBytes(seed, purpose, 48);
  try {
    return new Secret(mapHashToField(wide, secp256k1.Point.Fn.ORDER));
  } finally {
    wide.fill(0);
  }
}

/** W of a seed. @throws PoolError `invalid_value` for a wiped seed */
export function deriveWalletPub(seed: Seed): WalletPub {
  const key = deriveWalletKey(seed).reveal();
  try {
    return parseWalletPub(bytesToHex(secp256k1.getPublicKey(key)));
  } finally {
    key.fill(0);
  }
}

/**
 * The keys of a seed.
 * @param domain - of the platform, as its viewing-key text names it, for example `pool.example`
 * @throws PoolError `invalid_value` for a wiped seed, or a domain that the text cannot name
 */
export async function openAccount(seed: Seed, domain: string): Promise<OpenAccount> {
  const walletKey = deriveWalletKey(seed);
  try {
    const signer = createLocalKeyHolder({ privateKey: walletKey });
    const walletPub = parseWalletPub(await signer.walletPub());
    const signature = (await signer.signViewingKeyText(domain)).reveal();
    const viewingKey = deriveViewingKey(signature);
    signature.fill(0);
    const gasBytes = deriveKey(seed, 'gas-key').reveal();
    const gasKey = new Secret(bytesToHex(gasBytes));
    gasBytes.fill(0);
    return {
      walletPub,
      address: computeWalletAddress(walletPub),
      gasKey,
      encryptionPublicKey: computeEncryptionPublicKey(viewingKey),
      signer,
      viewingKey: new Secret(viewingKey),
      storageKey: await importSealKey(deriveBytes(seed, 'storage-key', 32)),
      close: () => void walletKey.reveal().fill(0),
    };
  } catch (error) {
    walletKey.reveal().fill(0);
    throw error;
  }
}

/** @param raw - 32 bytes, secret. Wiped here */
export async function importSealKey(raw: Uint8Array<ArrayBuffer>): Promise<StorageKey> {
  try {
    return await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']);
  } finally {
    raw.fill(0);
  }
}

/** @returns secret bytes of one purpose. The caller wipes them. @throws PoolError `invalid_value` for a wiped seed */
export function deriveBytes(
  seed: Seed,
  purpose: 'wallet-key' | 'gas-key' | 'storage-key' | 'file-mac',
  length: number,
): Uint8Array<ArrayBuffer> {
  const info = utf8ToBytes(`pool/v1/account/${purpose}`);
  return hkdf(sha256, revealSeed(seed), undefined, info, length);
}

/** Everybody knows the keys of a wiped seed, so nothing derives from one. @throws PoolError `invalid_value` */
export function revealSeed(seed: Seed): Uint8Array<ArrayBuffer> {
  const bytes = seed.reveal();
  if (bytes.length !== 32 || bytes.every((byte) => byte === 0)) {
    throw new PoolError(
      'invalid_value',
      'the seed is not 32 bytes, or was wiped; open the account again',
    );
  }
  return bytes;
}
