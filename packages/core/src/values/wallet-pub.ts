/**
 * W, the holder's wallet public key (protocol §2). For EVM wallets: a secp256k1 point as
 * 33-byte compressed hex (SEC 1 v2, §2.3.3). It is a public key, never an address.
 *
 * @module
 */

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Brand } from '../errors/brand.ts';
import { PoolError } from '../errors/pool-error.ts';
import { type EvmAddress, parseEvmAddress } from './evm-address.ts';
import { bigintToBytes, bytesToHex, type Hex, parseHex } from './hex.ts';

/** 33-byte compressed SEC1 point as lower-case hex. Made by {@link parseWalletPub}, {@link encodeWalletPub}. */
export type WalletPub = Brand<Hex, 'WalletPub'>;

/** Affine coordinates of W, each below the secp256k1 base field's order. */
export type WalletPoint = { readonly x: bigint; readonly y: bigint };

/** @throws PoolError `invalid_wallet_pub` unless the value is a compressed point on secp256k1 */
export function parseWalletPub(value: unknown): WalletPub {
  return encodeWalletPub(decodeWalletPub(value));
}

/** The point behind W. @throws PoolError `invalid_wallet_pub` */
export function decodeWalletPub(value: unknown): WalletPoint {
  try {
    const { x, y } = secp256k1.Point.fromHex(parseHex(value, 33).slice(2)).toAffine();
    return { x, y };
  } catch (cause) {
    throw new PoolError(
      'invalid_wallet_pub',
      'walletPub must be a compressed secp256k1 public key: 33 bytes of lower-case hex with 0x',
      { cause },
    );
  }
}

/** Compressed SEC1 hex of a point. @throws PoolError `invalid_wallet_pub` unless it is on the curve */
export function encodeWalletPub({ x, y }: WalletPoint): WalletPub {
  try {
    const point = secp256k1.Point.fromAffine({ x, y });
    point.assertValidity();
    return bytesToHex(point.toBytes(true)) as WalletPub;
  } catch (cause) {
    throw new PoolError('invalid_wallet_pub', 'x and y are not a point on secp256k1', { cause });
  }
}

/**
 * The EVM address of W in checksum form: last 20 bytes of keccak256(x ‖ y).
 * @throws PoolError `invalid_wallet_pub`
 */
export function computeWalletAddress(walletPub: Hex): EvmAddress {
  const { x, y } = decodeWalletPub(walletPub);
  const hash = keccak_256(Uint8Array.from([...bigintToBytes(x, 32), ...bigintToBytes(y, 32)]));
  return parseEvmAddress(bytesToHex(hash.subarray(12)));
}
