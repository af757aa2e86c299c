/**
 * The digests that a manifest pins for files that are fetched: those of the committed manifest, or of the one that was published with
 * production keys. Whoever uses fetched files trusts these digests and nothing else.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type CircuitName, circuitNames } from './circuits.ts';

/** What production needs: the compact form of a key is made from the standard one. */
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
 * The digests a manifest pins, by circuit. A production manifest needs no more than `{"circuits": {"fund-16": {"sha256": …}}}` and
 * may leave circuits out.
 * @throws PoolError `artifacts_manifest_malformed`
 */
export function parsePinnedDigests(json: string): ReadonlyMap<CircuitName, PinnedDigests> {
  const malformed = (cause?: unknown) =>
    new PoolError(
      'artifacts_manifest_malformed',
      'The manifest does not pin the files of a circuit by SHA-256. Take the one published with the keys.',
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
