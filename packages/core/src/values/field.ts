/**
 * The scalar field of BN254, in which notes and circuits live. Protocol §1: a field element on a wire is
 * 32 bytes big-endian and **must be smaller than r**. Accepting `x + r` as an alias of `x` would let one
 * nullifier or batch nonce be used twice.
 *
 * @module
 */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Brand } from '../errors/brand.ts';
import { PoolError } from '../errors/pool-error.ts';
import { bigintToHex32, bytesToBigint, type Hex32, hexToBigint, parseHex } from './hex.ts';

/** r, the order of BN254's scalar field. */
export const fieldModulus =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** An integer in [0, r). Made by {@link assertField}, {@link parseField}, {@link reduceToField}. */
export type Field = Brand<bigint, 'Field'>;

/** True when the integer is a canonical field element. */
export function isField(value: bigint): value is Field {
  return value >= 0n && value < fieldModulus;
}

/** @throws PoolError `invalid_field_element` when the integer is outside [0, r) */
export function assertField(value: bigint): Field {
  if (!isField(value)) {
    throw new PoolError('invalid_field_element', 'not a canonical field element (must be below r)');
  }
  return value;
}

/** 0, for example an empty leaf. */
export const zeroField: Field = assertField(0n);

/** 32-byte hex to a field element. @throws PoolError `invalid_value`, `invalid_field_element` */
export function parseField(hex: unknown): Field {
  return assertField(hexToBigint(parseHex(hex, 32)));
}

/** A field element as 32-byte big-endian hex. */
export function fieldToHex(value: Field): Hex32 {
  return bigintToHex32(assertField(value));
}

/** 32 zero bytes: how the contracts and the wire write "none". */
export const zeroWord: Hex32 = fieldToHex(zeroField);

/** Big-endian bytes of any length, reduced into the field. */
export function reduceToField(bytes: Uint8Array): Field {
  return assertField(bytesToBigint(bytes) % fieldModulus);
}

/**
 * Domain-separation tag of protocol §1: `keccak256("pool/v1/<NAME>") mod r`.
 * @param name - identifier without its `TAG_` prefix, for example `WALLET`
 */
export function computeTag(name: string): Field {
  return reduceToField(keccak_256(utf8ToBytes(`pool/v1/${name}`)));
}

/** The two 128-bit halves of a 256-bit value, low half first (protocol §1, `lo/hi`). */
export function splitHalves(value: bigint): { readonly lo: bigint; readonly hi: bigint } {
  return { lo: value & ((1n << 128n) - 1n), hi: value >> 128n };
}
