/**
 * The one gate every signature passes before anyone uses it, whichever signer made it: read r, s and v in
 * every dialect, bring s into the lower half, recover, and compare with the address we expect.
 *
 * Trying a missing v both ways is safe, because what decides is the recovery against **our** digest.
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

/** A signature as signers and custodians spell it. Strings are hex, with or without 0x. */
export type RawSignature =
  /** r ‖ s or r ‖ s ‖ v. */
  | string
  | {
      /** Big-endian hex, short or zero-padded. */
      readonly r: string;
      readonly s: string;
      /** 0, 1, 27 or 28, as a number, a decimal or 0x-hex text. Missing: both are tried. */
      readonly v?: number | bigint | string | undefined;
    };

export type SignatureClaim = {
  readonly signature: RawSignature;
  /** The digest this side computed. Never one the signer reports. */
  readonly digest: Hex32;
  readonly expectedSigner: EvmAddress;
};

/**
 * @returns 65 bytes r ‖ s ‖ v with low s and v 27 or 28
 * @throws PoolError `signature_rejected`: unreadable, or not by the expected address over this digest
 */
export function acceptSignature(claim: SignatureClaim): Hex {
  const { r, s, parity } = parseSignature(claim.signature);
  const isHigh = s > order / 2n;
  const lowS = isHigh ? order - s : s;
  // Negating s mirrors the nonce point, which flips its parity.
  const parities = parity === undefined ? [0, 1] : [isHigh ? 1 - parity : parity];
  const found = parities.find(
    (candidate) => recoverAddress(r, lowS, candidate, claim.digest) === claim.expectedSigner,
  );
  if (found === undefined) {
    throw rejected('it was not made by the expected address over this document');
  }
  return `0x${bigintToHex32(r).slice(2)}${bigintToHex32(lowS).slice(2)}${found === 0 ? '1b' : '1c'}`;
}

type ParsedSignature = {
  readonly r: bigint;
  readonly s: bigint;
  /** Parity of the nonce point's y; undefined when the signer did not say. */
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
    throw rejected('r or s has no usable length');
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
  switch (isReadable ? Number(v) : undefined) {
    case 0:
    case 27:
      return 0;
    case 1:
    case 28:
      return 1;
    default:
      throw rejected('v is none of 0, 1, 27 and 28');
  }
}

function recoverAddress(r: bigint, s: bigint, parity: number, digest: Hex32): string | undefined {
  try {
    const point = new secp256k1.Signature(r, s, parity)
      .recoverPublicKey(hexToBytes(digest, 32))
      .toAffine();
    return computeWalletAddress(encodeWalletPub(point));
  } catch {
    // r is no x-coordinate of the curve, or the recovered point is the identity: nobody's signature.
    return undefined;
  }
}

function rejected(reason: string): PoolError {
  return new PoolError('signature_rejected', `the signature was rejected: ${reason}`);
}
