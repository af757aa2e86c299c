/**
 * The digests that a manifest pins for fetched files: the committed manifest, or the one that was published with production keys.
 * Users of fetched files trust only these digests.
 *
 * @module
 */
import { type CircuitName, circuitNames, PoolError } from '@pool/core';

/** The files that production needs. The compact form of a key is made from the standard one. */
export const fetchedKinds = ['r1cs', 'wasm', 'zkey', 'verificationKey'] as const;
export type FetchedKind = (typeof fetchedKinds)[number];

/** SHA-256 of each file, hex. */
export type PinnedDigests = Readonly<Record<FetchedKind, string>>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseDigests(entry: unknown): PinnedDigests | undefined {
  const sha256 = isRecord(entry) ? entry['sha256'] : undefined;
  if (!isRecord(sha256)) {
    return undefined;
  }
  const pairs = fetchedKinds.map((kind) => [kind, sha256[kind]] as const);
  return pairs.every(([, digest]) => typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest))
    ? (Object.fromEntries(pairs) as Record<FetchedKind, string>)
    : undefined;
}

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
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw malformed(cause);
  }
  const circuits = isRecord(parsed) ? parsed['circuits'] : undefined;
  const pinned = new Map<CircuitName, PinnedDigests>();
  for (const name of circuitNames) {
    const entry = isRecord(circuits) ? circuits[name] : undefined;
    const digests = parseDigests(entry);
    if (entry !== undefined && digests === undefined) {
      throw malformed();
    }
    if (digests !== undefined) {
      pinned.set(name, digests);
    }
  }
  if (pinned.size === 0) {
    throw malformed();
  }
  return pinned;
}
