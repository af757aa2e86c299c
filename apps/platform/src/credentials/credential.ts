/**
 * Credentials of this platform. A bearer credential is `<prefix>_<8-character id>_<32 random bytes, base58><tag>`,
 * stored as SHA-256 and compared in constant time (docs/decisions/0010). The tag is a MAC under a key of this
 * platform: it refuses a guess without a query to the database (docs/decisions/0010).
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '@pool/core';
import { openServiceKey, type PlatformDatabase } from '@pool/database';
import { hashCredential, isSameHash } from '@pool/http-server';
import { encodeBase58 } from 'ethers';

// The key with which this platform tags the credentials it makes. It must live as long as the credentials, so it is in
// the database beside them: a backup restores both.

const credentialKeyName = 'credential-tag';

/** Reads the key. The first start makes it. */
export async function openCredentialMint(db: PlatformDatabase): Promise<CredentialMint> {
  return createCredentialMint(await openServiceKey(db, credentialKeyName));
}

export const apiKeyPrefix = 'pool_live';
export const edgeTokenPrefix = 'pool_edge';
/** Of the code of an invitation link. */
export const inviteCodePrefix = 'pool_invite';

/** Makes credentials, and distinguishes them from guesses. */
export type CredentialMint = ReturnType<typeof createCredentialMint>;

/** Letters and digits that are not mistaken for one another. */
const idAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const tagLength = 10;
/** In the tag of a cookie. Bearer credentials have their prefix: the tag of one kind never fits another. */
const cookieKind = 'sessionId ';

/** @param key - 32 bytes, secret. Knowing them lets an attacker make guesses that cost a query, but no valid credential */
export function createCredentialMint(key: Uint8Array) {
  const tag = (text: string): string => {
    const mac = createHmac('sha256', key).update(text, 'utf8').digest();
    return toIdCharacters(mac.subarray(0, tagLength));
  };
  const isTagged = (credential: string, kind = ''): boolean =>
    isSameHash(tag(kind + credential.slice(0, -tagLength)), credential.slice(-tagLength));
  return {
    mint(prefix: string) {
      const publicId = toIdCharacters(randomBytes(8));
      const body = `${prefix}_${publicId}_${encodeBase58(randomBytes(32))}`;
      const credential = `${body}${tag(body)}`;
      return {
        /** The whole credential: shown once, never stored. */
        credential: new Secret(credential),
        /** The 8 characters that find its row. Public. */
        publicId,
        hash: hashCredential(credential),
      };
    },
    mintCookie(): Secret {
      const body = randomBytes(32).toString('base64url');
      return new Secret(`${body}${tag(cookieKind + body)}`);
    },
    /** Whether this platform made a presented credential; its row decides whether it is still valid. */
    isOurs: (prefix: string, credential: string): boolean =>
      parsePublicId(prefix, credential) !== undefined && isTagged(credential),
    isOurCookie: (cookie: string): boolean => isTagged(cookie, cookieKind),
  };
}

/** One character for each byte. */
export function toIdCharacters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => idAlphabet[byte % idAlphabet.length]).join('');
}

/** The id inside a credential, or undefined when it is not one of the prefix. */
export function parsePublicId(prefix: string, credential: string): string | undefined {
  const match = /^([a-z]+_[a-z]+)_([A-Za-z0-9]{8})_[1-9A-HJ-NP-Za-km-z]{32,64}$/.exec(credential);
  return match?.[1] === prefix ? match[2] : undefined;
}
