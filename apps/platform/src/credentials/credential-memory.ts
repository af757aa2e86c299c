/**
 * What this process has recently learned about credentials. It decides which limit a call draws on before the database
 * is queried. It saves the query where the answer cannot change: a revoked credential, or one whose session has ended,
 * never becomes valid again. A valid credential is checked at every request, so a revocation takes effect at once.
 *
 * @module
 */

export type Remembered =
  /** It was valid at the last check. */
  { readonly kind: 'good'; readonly caller: string } | { readonly kind: 'dead' };

export type CredentialMemory = ReturnType<typeof createCredentialMemory>;

/** The most credentials remembered. The least recently seen one is forgotten first, and costs one more query. */
const maxRememberedCredentials = 20_000;

export function createCredentialMemory() {
  const known = new Map<string, Remembered>();
  return {
    recall: (hash: string): Remembered | undefined => known.get(hash),
    remember(hash: string, what: Remembered): void {
      // Inserted again, so that the first entry of the map is the least recently seen.
      known.delete(hash);
      known.set(hash, what);
      const oldest = known.size > maxRememberedCredentials ? known.keys().next().value : undefined;
      if (oldest !== undefined) {
        known.delete(oldest);
      }
    },
  };
}
