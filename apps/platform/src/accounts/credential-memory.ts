/**
 * What this process has lately learned of credentials. It decides only whose limit a call takes before the database
 * is asked, and spares the question where the answer cannot change: a credential that was revoked, or whose session
 * has ended, never becomes good again. A good one is asked about at every request, so that a revocation acts at once.
 *
 * @module
 */

export type Remembered =
  /** It was good when it was asked about last. */
  { readonly kind: 'good'; readonly caller: string } | { readonly kind: 'dead' };

export type CredentialMemory = {
  recall(hash: string): Remembered | undefined;
  remember(hash: string, what: Remembered): void;
};

/** Credentials remembered at once. What is forgotten, the one seen longest ago, costs one more question. */
const maxRememberedCredentials = 20_000;

export function createCredentialMemory(): CredentialMemory {
  const known = new Map<string, Remembered>();
  return {
    recall: (hash) => known.get(hash),
    remember(hash, what) {
      // Written anew, so that the front of the map is what was seen longest ago.
      known.delete(hash);
      known.set(hash, what);
      if (known.size > maxRememberedCredentials) {
        for (const oldest of known.keys()) {
          known.delete(oldest);
          break;
        }
      }
    },
  };
}
