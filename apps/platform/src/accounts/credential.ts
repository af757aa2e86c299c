/**
 * Bearer credentials of this platform: `<prefix>_<8-character id>_<32 random bytes, base58>`, stored as
 * SHA-256 and compared in constant time (docs/decisions/0008).
 *
 * @module
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { bytesToHex, Secret } from '@pool/core';
import { encodeBase58 } from 'ethers';

export const apiKeyPrefix = 'pool_live';
export const edgeTokenPrefix = 'pool_edge';

export type MintedCredential = {
  /** The whole credential: shown once, never stored. */
  readonly credential: Secret;
  /** The 8 characters that find its row. Public. */
  readonly publicId: string;
  /** Prefix up to and including the id. Public. */
  readonly displayPrefix: string;
  readonly hash: string;
};

const idAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

export function mintCredential(prefix: string): MintedCredential {
  const publicId = Array.from(randomBytes(8), (byte) => idAlphabet[byte % idAlphabet.length]).join(
    '',
  );
  const displayPrefix = `${prefix}_${publicId}`;
  const credential = `${displayPrefix}_${encodeBase58(randomBytes(32))}`;
  return {
    credential: new Secret(credential),
    publicId,
    displayPrefix,
    hash: hashCredential(credential),
  };
}

/** The id inside a credential, or undefined when it is not one of the prefix. */
export function parsePublicId(prefix: string, credential: string): string | undefined {
  const match = /^([a-z]+_[a-z]+)_([A-Za-z0-9]{8})_[1-9A-HJ-NP-Za-km-z]{32,64}$/.exec(credential);
  return match?.[1] === prefix ? match[2] : undefined;
}

/** SHA-256 of a random credential: 256 bits of entropy need no slow hash. */
export function hashCredential(credential: string): string {
  return bytesToHex(createHash('sha256').update(credential, 'utf8').digest());
}

export function isSameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
