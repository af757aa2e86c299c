/**
 * The check that every signature passes before it is used, for every signer: read r, s and v in any form, move s into the lower
 * half, recover the address, and compare it with the expected address.
 *
 * It is safe to try both values of a missing v, because the result must recover from the digest that **we** computed.
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bigintToHex32,
  computeWalletAddress,
  type EvmAddress,
  encodeWalletPub,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
} from '@pool/core';

const { n: order } = secp256k1.Point.CURVE();

/** A signature in the form of any signer or custodian. Strings are hex, with or without 0x. */
export type RawSignature =
  /** r ‖ s or r ‖ s ‖ v. */
  | string
  | {
      /** Big-endian hex, short or zero-padded. */
      readonly r: string;
      readonly s: string;
      /** 0, 1, 27 or 28, as a number or as decimal or 0x-hex text. If missing, both parities are tried. */
      readonly v?: number | bigint | string | undefined;
    };

export type SignatureClaim = {
  readonly signature: RawSignature;
  /** The digest that this side computed, never one that the signer reports. */
  readonly digest: Hex32;
  readonly expectedSigner: EvmAddress;
};

/**
 * @returns 65 bytes r ‖ s ‖ v with low s and v 27 or 28
 * @throws PoolError `signature_rejected` if it is unreadable or was not made by the expected address for this digest
 */
export function acceptSignature(claim: SignatureClaim): Hex {
  const { r, s, parity } = parseSignature(claim.signature);
  const isHigh = s > order / 2n;
  const lowS = isHigh ? order - s : s;
  // Negating s negates the nonce point, which flips the parity of its y.
  const parities = parity === undefined ? [0, 1] : [isHigh ? 1 - parity : parity];
  const found = parities.find(
    (candidate) => recoverAddress(r, lowS, candidate, claim.digest) === claim.expectedSigner,
  );
  if (found === undefined) {
    throw rejected('it was not made by the expected address for this document');
  }
  return `0x${bigintToHex32(r).slice(2)}${bigintToHex32(lowS).slice(2)}${found === 0 ? '1b' : '1c'}`;
}

type ParsedSignature = {
  readonly r: bigint;
  readonly s: bigint;
  /** Parity of the nonce point's y. Undefined if the signer did not send it. */
  readonly parity: number | undefined;
};

function parseSignature(signature: RawSignature): ParsedSignature {
  if (typeof signature !== 'string') {
    const { r, s, v } = signature;
    return { r: parseScalar(r), s: parseScalar(s), parity: parseParity(v) };
  }
  const digits = stripPrefix(signature);
  if (digits.length !== 128 && digits.length !== 130) {
    throw rejected('it is neither 64 nor 65 bytes');
  }
  return {
    r: parseScalar(digits.slice(0, 64)),
    s: parseScalar(digits.slice(64, 128)),
    parity: digits.length === 128 ? undefined : parseParity(`0x${digits.slice(128)}`),
  };
}

function stripPrefix(text: string): string {
  const digits = /^(?:0x)?([0-9a-fA-F]*)$/i.exec(text)?.[1];
  if (digits === undefined) {
    throw rejected('it is not hex');
  }
  return digits;
}

function parseScalar(text: unknown): bigint {
  const digits = typeof text === 'string' ? stripPrefix(text).replace(/^0+/, '') : '';
  if (digits === '' || digits.length > 64) {
    throw rejected('r or s has an invalid length');
  }
  const value = BigInt(`0x${digits}`);
  if (value >= order) {
    throw rejected('r or s is not below the group order');
  }
  return value;
}

function parseParity(v: unknown): number | undefined {
  if (v === undefined || v === null) {
    return undefined;
  }
  const isReadable =
    typeof v === 'number' ||
    typeof v === 'bigint' ||
    (typeof v === 'string' && /^(?:0x[0-9a-fA-F]{1,2}|[0-9]{1,2})$/.test(v));
  // Hexadecimal without 0x, as some write r and s: no other value of v has a letter.
  const isBareHex = typeof v === 'string' && /^1[bc]$/i.test(v);
  switch (isBareHex ? Number(`0x${v}`) : isReadable ? Number(v) : undefined) {
    case 0:
    case 27:
      return 0;
    case 1:
    case 28:
      return 1;
    default:
      throw rejected('v is not 0, 1, 27 or 28');
  }
}

function recoverAddress(r: bigint, s: bigint, parity: number, digest: Hex32): string | undefined {
  try {
    const point = new secp256k1.Signature(r, s, parity)
      .recoverPublicKey(hexToBytes(digest, 32))
      .toAffine();
    return computeWalletAddress(encodeWalletPub(point));
  } catch {
    // r is not an x-coordinate of the curve, or the recovered point is the identity. No key made this signature.
    return undefined;
  }
}

function rejected(reason: string): PoolError {
  return new PoolError('signature_rejected', `the signature was rejected: ${reason}`);
}
