/**
 * The digests that a manifest pins for fetched files: the committed manifest, or the one that was published with production keys.
 * Users of fetched files trust only these digests.
 *
 * @module
 */
import { type CircuitName, PoolError } from '@pool/core';
import { listManifestEntries, readDigests } from '../artifacts-manifest.ts';

/** The files that production needs. The compact form of a key is made from the standard one. */
export const fetchedKinds = ['r1cs', 'wasm', 'zkey', 'verificationKey'] as const;
export type FetchedKind = (typeof fetchedKinds)[number];

/** SHA-256 of each file, hex. */
export type PinnedDigests = Readonly<Record<FetchedKind, string>>;

/**
 * The digests that a manifest pins, by circuit. A production manifest may be as small as `{"circuits": {"fund-16": {"sha256":
 * …}}}`, and may omit circuits.
 * @throws PoolError `artifact_malformed`
 */
export function parsePinnedDigests(json: string): ReadonlyMap<CircuitName, PinnedDigests> {
  const malformed = (cause?: unknown) =>
    new PoolError(
      'artifact_malformed',
      'The manifest does not pin the files of a circuit by SHA-256. Use the manifest that was published with the keys.',
      { cause },
    );
  let entries: ReturnType<typeof listManifestEntries>;
  try {
    entries = listManifestEntries(json);
  } catch (cause) {
    throw malformed(cause);
  }
  const pinned = new Map<CircuitName, PinnedDigests>();
  for (const [name, entry] of entries) {
    const digests = readDigests(entry, fetchedKinds);
    if (digests === undefined) {
      throw malformed();
    }
    pinned.set(name, digests);
  }
  if (pinned.size === 0) {
    throw malformed();
  }
  return pinned;
}
