/**
 * The committed manifest (artifacts.json): the bytes that each circuit's artifacts must have on every machine (protocol §9).
 * Written by `pnpm generate`.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type CircuitName, circuitNames, PoolError } from '@pool/core';

/** `zkey` and `compactKey` are the same proving key, in the form of snarkjs and in the form of the cache. */
export const artifactKinds = ['r1cs', 'wasm', 'zkey', 'compactKey', 'verificationKey'] as const;
export type ArtifactKind = (typeof artifactKinds)[number];

/** SHA-256 of each file, hex. */
export type ArtifactDigests = Readonly<Record<ArtifactKind, string>>;

export type ManifestEntry = {
  /** Digest of everything that determines the artifacts: sources, compiler, setup. */
  readonly recipe: string;
  readonly constraints: number;
  readonly wires: number;
  readonly publicSignals: number;
  readonly domainSize: number;
  /** Non-zero entries of A, B and C. */
  readonly terms: number;
  readonly sha256: ArtifactDigests;
};

export type ArtifactsManifest = Readonly<Record<CircuitName, ManifestEntry>>;

export function manifestUrl(): URL {
  return new URL('../artifacts.json', import.meta.url);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** The digests of these files in an entry. Undefined unless it has all of them. */
export function readDigests<Kind extends ArtifactKind>(
  entry: unknown,
  kinds: readonly Kind[],
): Readonly<Record<Kind, string>> | undefined {
  const sha256 = isRecord(entry) ? entry['sha256'] : undefined;
  const digests = kinds.map((kind) => [kind, isRecord(sha256) ? sha256[kind] : undefined] as const);
  return digests.every(([, digest]) => isDigest(digest))
    ? (Object.fromEntries(digests) as Record<Kind, string>)
    : undefined;
}

function isEntry(value: unknown): value is ManifestEntry {
  const counts = ['constraints', 'wires', 'publicSignals', 'domainSize', 'terms'];
  return (
    isRecord(value) &&
    isDigest(value['recipe']) &&
    counts.every((name) => Number.isSafeInteger(value[name])) &&
    readDigests(value, artifactKinds) !== undefined
  );
}

/** The entries of the circuits that a manifest has, not checked. @throws SyntaxError */
export function listManifestEntries(json: string): readonly (readonly [CircuitName, unknown])[] {
  const parsed: unknown = JSON.parse(json);
  const circuits = isRecord(parsed) ? parsed['circuits'] : undefined;
  return circuitNames.flatMap((name) => {
    const entry = isRecord(circuits) ? circuits[name] : undefined;
    return entry === undefined ? [] : [[name, entry] as const];
  });
}

/** The valid entries of a manifest. A circuit that is new, or whose entry is malformed, has none. */
export function findManifestEntries(json: string): ReadonlyMap<CircuitName, ManifestEntry> {
  return new Map(
    listManifestEntries(json).flatMap(([name, entry]) =>
      isEntry(entry) ? [[name, entry] as const] : [],
    ),
  );
}

/**
 * Reads a manifest.
 * @throws PoolError `artifact_malformed`
 */
function parseArtifactsManifest(json: string): ArtifactsManifest {
  const known = findManifestEntries(json);
  const entries = circuitNames.map((name) => {
    const entry = known.get(name);
    if (entry === undefined) {
      throw new PoolError(
        'artifact_malformed',
        `artifacts.json has no valid entry for ${name}. Run \`pnpm generate\`.`,
      );
    }
    return [name, entry] as const;
  });
  return Object.fromEntries(entries) as Record<CircuitName, ManifestEntry>;
}

/** The committed manifest. */
export function readArtifactsManifest(): ArtifactsManifest {
  return parseArtifactsManifest(readFileSync(manifestUrl(), 'utf8'));
}

/** SHA-256 of bytes, hex. */
export function computeDigest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 of a file, hex. */
export async function computeFileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
