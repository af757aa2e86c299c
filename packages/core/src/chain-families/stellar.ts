/**
 * Stellar: an address is its account's ed25519 key as StrKey (SEP-23): base32 of a version byte, the key
 * and a CRC-16 checksum. Account addresses begin with G.
 *
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base32nopad } from '@scure/base';
import { PoolError } from '../errors/pool-error.ts';
import type { ChainFamily, Ed25519SignInRules } from './chain-family.ts';
import { decodeEd25519WalletPub, isEd25519Key } from './ed25519-key.ts';

/** 6 << 3 | 0: the public key of an account, ed25519. */
const accountVersion = 0x30;

/** 35 bytes have 56 digits. */
const addressForm = /^[A-Z2-7]{56}$/;

export const stellarFamily = {
  name: 'stellar',
  curve: 'ed25519',
  addressForm,
  parseAddress: parseStellarAddress,
  formatAddress: (walletPub: unknown) => encodeAccount(decodeEd25519WalletPub(walletPub)),
  signIn: {
    walletName: 'Stellar',
    networks: ['pubnet', 'testnet'],
    // SEP-53: the signature is never one of a transaction.
    computeSignedBytes: (text: Uint8Array) =>
      sha256(concatBytes(utf8ToBytes('Stellar Signed Message:\n'), text)),
    decodeAddress,
  },
} as const satisfies ChainFamily & { readonly signIn: Ed25519SignInRules };

/** Other common kinds of StrKey, by their first letter. */
const otherKinds: Readonly<Record<string, string>> = {
  M: 'this is a muxed address (M…), which names a customer of a shared account; give the address of a wallet (G…)',
  C: 'this is a contract (C…), and a contract cannot sign in; give the address of a wallet (G…)',
  S: 'this is a secret seed (S…), which moves everything its account holds: treat it as disclosed; give the address (G…)',
};

/** Each key has one spelling, so the text itself is the canonical one. */
function parseStellarAddress(text: unknown): string {
  if (typeof text !== 'string' || !/^[A-Z2-7]{56,69}$/.test(text)) {
    throw notStellar();
  }
  const other = otherKinds[text.slice(0, 1)];
  if (other !== undefined) {
    throw new PoolError('invalid-address', `not the address of a Stellar wallet: ${other}`);
  }
  if (!addressForm.test(text)) {
    throw notStellar();
  }
  // 56 digits of 5 bits are exactly 35 bytes: no spare bits in which a second spelling could hide.
  const key = decodeAddress(text);
  // Comparing with the encoding checks version byte and checksum in one.
  if (encodeAccount(key) !== text) {
    throw notStellar();
  }
  if (!isEd25519Key(key)) {
    throw new PoolError(
      'invalid-address',
      'not the address of a Stellar wallet: nobody can sign with this key',
    );
  }
  return text;
}

function decodeAddress(address: string): Uint8Array {
  return base32nopad.decode(address).subarray(1, 33);
}

function encodeAccount(key: Uint8Array): string {
  const body = [accountVersion, ...key];
  const checksum = computeCrc16(body);
  // Low byte first.
  return base32nopad.encode(Uint8Array.from([...body, checksum & 0xff, checksum >> 8]));
}

/** CRC-16/XMODEM: polynomial x^16 + x^12 + x^5 + 1, start 0, nothing reflected. */
function computeCrc16(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
  }
  return crc;
}

function notStellar(): PoolError {
  return new PoolError(
    'invalid-address',
    'not a Stellar address: 56 capital letters and digits 2 to 7 that begin with G and have a valid checksum',
  );
}
