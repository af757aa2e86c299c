/**
 * Hex on the wire: lower case, `0x` prefix, exact length. Parsers refuse anything else, so that one value
 * has one spelling and comparing strings compares values.
 *
 * @module
 */

import {
  bytesToHex as nobleBytesToHex,
  hexToBytes as nobleHexToBytes,
} from '@noble/hashes/utils.js';
import type { Brand } from '../errors/brand.ts';
import { PoolError } from '../errors/pool-error.ts';

/** Lower-case, `0x`-prefixed, even-length hex. */
export type Hex = `0x${string}`;

/** Exactly 32 bytes of canonical {@link Hex}. Made by {@link parseHex32}, {@link bytesToHex32}, {@link bigintToHex32}. */
export type Hex32 = Brand<Hex, 'Hex32'>;

const hexPattern = /^0x(?:[0-9a-f]{2})*$/;

/**
 * @param value - anything
 * @param byteLength - exact number of expected bytes; omitted: any
 * @throws PoolError `invalid_value` when the value is not canonical hex of that length
 */
export function parseHex(value: unknown, byteLength?: number): Hex {
  if (
    typeof value !== 'string' ||
    !hexPattern.test(value) ||
    (byteLength !== undefined && value.length !== 2 + 2 * byteLength)
  ) {
    const wanted = byteLength === undefined ? 'an even number of digits' : `${byteLength} bytes`;
    throw new PoolError('invalid_value', `expected lower-case 0x-prefixed hex of ${wanted}`);
  }
  return value as Hex;
}

/** @throws PoolError `invalid_value` unless the value is canonical hex of 32 bytes */
export function parseHex32(value: unknown): Hex32 {
  return parseHex(value, 32) as Hex32;
}

/** Bytes to canonical hex. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${nobleBytesToHex(bytes)}`;
}

/** 32 bytes to canonical hex. @throws PoolError `invalid_value` for another length */
export function bytesToHex32(bytes: Uint8Array): Hex32 {
  return parseHex32(bytesToHex(bytes));
}

/** Canonical hex to bytes. @throws PoolError `invalid_value` */
export function hexToBytes(hex: string, byteLength?: number): Uint8Array {
  return nobleHexToBytes(parseHex(hex, byteLength).slice(2));
}

/** Big-endian bytes to a non-negative integer. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${nobleBytesToHex(bytes)}`);
}

/**
 * A non-negative integer as exactly `byteLength` big-endian bytes.
 * @throws PoolError `invalid_value` when it is negative or does not fit
 */
export function bigintToBytes(value: bigint, byteLength: number): Uint8Array {
  return nobleHexToBytes(writeDigits(value, byteLength));
}

/** Exactly `2 * byteLength` digits. */
function writeDigits(value: bigint, byteLength: number): string {
  const digits = value === 0n ? '' : value.toString(16);
  if (value < 0n || digits.length > 2 * byteLength) {
    throw new PoolError('invalid_value', `integer does not fit ${byteLength} bytes`);
  }
  return digits.padStart(2 * byteLength, '0');
}

/** A non-negative integer as `byteLength` big-endian bytes of hex. @throws PoolError `invalid_value` */
export function bigintToHex(value: bigint, byteLength: number): Hex {
  return `0x${writeDigits(value, byteLength)}`;
}

/** A non-negative integer as a 32-byte big-endian word. @throws PoolError `invalid_value` */
export function bigintToHex32(value: bigint): Hex32 {
  return bigintToHex(value, 32) as Hex32;
}

/** Canonical hex to a non-negative integer. @throws PoolError `invalid_value` */
export function hexToBigint(hex: string): bigint {
  const canonical = parseHex(hex);
  return canonical === '0x' ? 0n : BigInt(canonical);
}
