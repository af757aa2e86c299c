/**
 * Granted access tokens, found by their hash. All have the same lifetime, so the map is in the order of expiry: the
 * oldest come first, and each grant deletes a few expired ones.
 *
 * @module
 */
import { hashCredential } from '@pool/http-server';

export type AccessTokens<T> = {
  readonly size: number;
  add(
    token: string,
    grant: T,
    times: { readonly nowMs: number; readonly expiresAtMs: number },
  ): void;
  /** The grant of the token; undefined for an unknown or expired one. */
  find(token: string, nowMs: number): T | undefined;
};

/** More than one, so that the number of expired tokens falls; few, so that no grant takes long. */
export const deletedPerGrant = 16;

export function createAccessTokens<T>(): AccessTokens<T> {
  const tokens = new Map<string, { readonly grant: T; readonly expiresAtMs: number }>();
  return {
    get size() {
      return tokens.size;
    },
    add(token, grant, { nowMs, expiresAtMs }) {
      let looked = 0;
      for (const [hash, oldest] of tokens) {
        if (looked === deletedPerGrant || oldest.expiresAtMs > nowMs) {
          break;
        }
        tokens.delete(hash);
        looked += 1;
      }
      tokens.set(hashCredential(token), { grant, expiresAtMs });
    },
    find(token, nowMs) {
      const known = tokens.get(hashCredential(token));
      return known === undefined || known.expiresAtMs <= nowMs ? undefined : known.grant;
    },
  };
}
