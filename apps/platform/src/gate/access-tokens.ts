/**
 * Access tokens that were granted, found by their hash. All live equally long, so the map is in the order in which
 * they expire: the oldest stand in front, and each grant deletes a few of those that are over.
 *
 * @module
 */
import { hashCredential } from '../accounts/credential.ts';

export type AccessTokens<T> = {
  readonly size: number;
  add(
    token: string,
    grant: T,
    times: { readonly nowMs: number; readonly expiresAtMs: number },
  ): void;
  /** What the token was granted; undefined for one that is unknown or over. */
  find(token: string, nowMs: number): T | undefined;
};

/** More than one, so that they become fewer; few, so that no grant waits for many. */
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
