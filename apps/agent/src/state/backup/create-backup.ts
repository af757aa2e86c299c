/**
 * Makes a backup of one agent: everything that a restored agent needs to lose no note and to pay nothing twice, and no spend key.
 *
 * @module
 */
import { bigintToHex32, type Secret } from '@pool/core';
import {
  type BackupHolder,
  type BackupManifest,
  computeManifestMac,
  describeViewingKey,
  earlierViewingKeysPart,
  encodeHead,
  viewingKeyPart,
} from '@pool/wallet';
import { createSealer, type SealFor, writeAgeFile } from './age-file.ts';
import {
  closeAll,
  createMemorySnapshot,
  type Snapshot,
  type StorePaths,
  takeSnapshots,
} from './backup-parts.ts';

export type BackupKeys = {
  readonly holder: BackupHolder;
  readonly current: Secret<bigint>;
  readonly earlier: readonly Secret<bigint>[];
};

export type BackupSource = {
  readonly stores: StorePaths;
  /** Small parts that are in no file, by their name. */
  readonly texts: Readonly<Record<string, string>>;
  /** Undefined: there is no holder. */
  readonly keys: BackupKeys | undefined;
  readonly employerId: string | null;
  readonly agentVersion: string;
};

/**
 * Works while the agent runs. Sends nothing.
 * @param path - of the new file
 * @returns the manifest, and the bytes of the file
 * @throws PoolError `invalid_request`, `file_not_written`, `interrupted`
 */
export async function createBackup(
  path: string,
  sealFor: SealFor,
  { stores, texts, keys, employerId, agentVersion }: BackupSource,
  input: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<{ readonly manifest: BackupManifest; readonly bytes: number }> {
  const sealer = createSealer(sealFor);
  const snapshots = [
    ...takeSnapshots(stores),
    ...Object.entries({ ...texts, ...describeKeys(keys) }).map(([name, text]) =>
      createMemorySnapshot(name, text),
    ),
  ];
  try {
    const unsigned = {
      format: 'pool-backup' as const,
      version: 1 as const,
      createdAt: new Date(input.nowMs).toISOString(),
      agentVersion,
      holder: keys?.holder ?? null,
      employerId,
      parts: snapshots.map(({ name, bytes, sha256, counts }) => ({ name, bytes, sha256, counts })),
    };
    const mac = keys === undefined ? null : computeManifestMac(unsigned, keys.current.reveal());
    const manifest: BackupManifest = { ...unsigned, mac };
    const plaintext = joinBytes(manifest, snapshots);
    return { manifest, bytes: await writeAgeFile(path, sealer, plaintext, input.signal) };
  } finally {
    closeAll(snapshots);
  }
}

function describeKeys(keys: BackupKeys | undefined): Readonly<Record<string, string>> {
  if (keys === undefined) {
    return {};
  }
  const earlier = keys.earlier.map((key) => bigintToHex32(key.reveal()));
  return {
    [viewingKeyPart]: `${describeViewingKey(keys.current.reveal())}\n`,
    ...(earlier.length === 0 ? {} : { [earlierViewingKeysPart]: `${JSON.stringify(earlier)}\n` }),
  };
}

function* joinBytes(
  manifest: BackupManifest,
  snapshots: readonly Snapshot[],
): Generator<Uint8Array, void, undefined> {
  yield encodeHead(manifest);
  for (const snapshot of snapshots) {
    yield* snapshot.chunks();
  }
}
