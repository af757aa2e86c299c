/**
 * ed25519 wallet keys, of Solana and Stellar alike (protocol §2; RFC 8032).
 *
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { PoolError } from '../errors/pool-error.ts';
import { hexToBytes, parseHex } from '../values/hex.ts';

/**
 * True for a key that has a private key: the canonical encoding of a point of the prime-order subgroup,
 * not the identity. Every key made by RFC 8032 is one.
 *
 * Half of all 32-byte strings are not points, among them every program-derived address. Of the points only one
 * in eight lies in the subgroup, so this also catches 15 of 16 mistyped Solana addresses, which carry no
 * checksum; and it refuses the points of small order, under which signatures of anyone may verify.
 */
export function isEd25519Key(key: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(key);
    return !point.is0() && point.isTorsionFree();
  } catch {
    return false;
  }
}

/** The 32 bytes behind an ed25519 W. @throws PoolError `invalid_wallet_pub` */
export function decodeEd25519WalletPub(value: unknown): Uint8Array {
  let key: Uint8Array | undefined;
  try {
    key = hexToBytes(parseHex(value, 32), 32);
  } catch {
    // Like the function above, with one message for everything that is not a key.
  }
  if (key === undefined || !isEd25519Key(key)) {
    throw new PoolError(
      'invalid_wallet_pub',
      'walletPub must be an ed25519 public key: 32 bytes of lower-case hex with 0x, in the prime-order subgroup',
    );
  }
  return key;
}
