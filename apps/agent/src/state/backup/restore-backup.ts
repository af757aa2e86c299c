/**
 * Restores a backup into a new agent directory. Everything is written into a directory beside it and checked there, and gets its name only
 * then, so a restore that is killed leaves no half directory under that name.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PoolError } from '@pool/core';
import { syncFolder } from '@pool/storage';
import { type BackupManifest, type BackupPart, createDamaged } from '@pool/wallet';
import { restoredWaitMs, writeRestoreMark } from '@pool/wallet/node';
import { type OpenWith, writeAll } from './age-file.ts';
import { checkDatabase, removeStale } from './backup-parts.ts';
import { readBackup } from './read-backup.ts';

export type Restored = {
  readonly manifest: BackupManifest;
  readonly folder: string;
  /** From then on the agent makes transfers and withdrawals again. */
  readonly spendsFromMs: number;
};

export type RestoreOptions = {
  /** The new agent directory: missing, or empty. */
  readonly folder: string;
  /** What the configuration of this machine says about its holder and employer; undefined where it says nothing. */
  readonly expected: {
    readonly walletPub: string | undefined;
    readonly encryptionPublicKey: string | undefined;
    readonly employerId: string | undefined;
  };
  readonly nowMs: number;
  readonly signal: AbortSignal;
};

/** @throws PoolError `restore_refused`, `file_not_written`, `interrupted` */
export async function restoreBackup(
  path: string,
  openWith: OpenWith,
  { folder: wanted, expected, nowMs, signal }: RestoreOptions,
): Promise<Restored> {
  const folder = resolve(wanted);
  // Directories of restores that were killed. They contain decrypted parts.
  removeStale(dirname(folder), `${basename(folder)}${stagingMark}`);
  const staging = `${folder}${stagingMark}${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    const manifest = await readBackup(path, openWith, {
      begin(found) {
        assertMayRestore(found, folder, expected);
        guardFile(staging, () => mkdirSync(staging, { recursive: true, mode: 0o700 }));
      },
      open: (part) => openPart(join(staging, part.name), part, signal),
    });
    for (const part of manifest.parts) {
      checkPart(staging, part);
    }
    writeRestoreMark(staging, {
      version: 1,
      restoredAt: new Date(nowMs).toISOString(),
      backupCreatedAt: manifest.createdAt,
    });
    signal.throwIfAborted();
    // Replaces an empty directory, and fails for any other one.
    guardFile(folder, () => renameSync(staging, folder));
    syncFolder(folder);
    return { manifest, folder, spendsFromMs: nowMs + restoredWaitMs };
  } catch (error) {
    if (signal.aborted) {
      throw new PoolError('interrupted', 'a signal ended the command, and nothing was restored');
    }
    throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Before anything is written. */
function assertMayRestore(
  manifest: BackupManifest,
  folder: string,
  { walletPub, encryptionPublicKey, employerId }: RestoreOptions['expected'],
): void {
  assertEmpty(manifest, folder);
  const { holder } = manifest;
  if (walletPub !== undefined && holder?.walletPub !== walletPub) {
    throw refuse(
      `the backup is of ${holder?.walletPub ?? 'an agent without a wallet'}, and this machine is configured for the holder ${walletPub}`,
    );
  }
  const keys = [holder?.encryptionPublicKey, ...(holder?.earlierEncryptionPublicKeys ?? [])];
  if (encryptionPublicKey !== undefined && !keys.includes(encryptionPublicKey)) {
    throw refuse(
      `the backup has no viewing key of the encryption key ${encryptionPublicKey} that this machine is configured for`,
    );
  }
  if (employerId !== undefined && manifest.employerId !== employerId) {
    throw refuse(
      `the backup is of employer ${manifest.employerId ?? '(none)'}, and this machine is configured for ${employerId}`,
    );
  }
}

function assertEmpty({ createdAt }: BackupManifest, folder: string): void {
  if (!existsSync(folder)) {
    return;
  }
  const names = guardFile(folder, () => readdirSync(folder));
  if (names.length === 0) {
    return;
  }
  const newestMs = Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs));
  throw refuse(
    newestMs > Date.parse(createdAt)
      ? `${folder} has a state that was last written at ${new Date(newestMs).toISOString()}, after this backup of ${createdAt}: with the older state the agent would forget what it paid since. Start the agent with the directory as it is. To look into the backup, restore it into another directory with --to`
      : `${folder} is not empty; name an empty or a new directory with --to`,
  );
}

function openPart(path: string, { bytes }: BackupPart, signal: AbortSignal) {
  const file = guardFile(path, () => openSync(path, 'wx', 0o600));
  let written = 0;
  return {
    write(chunk: Uint8Array) {
      signal.throwIfAborted();
      guardFile(path, () => writeAll(file, chunk));
      written += chunk.length;
    },
    close() {
      try {
        if (written === bytes) {
          guardFile(path, () => fsyncSync(file));
        }
      } finally {
        closeSync(file);
      }
    },
  };
}

function checkPart(staging: string, { name, counts }: BackupPart): void {
  if (!name.endsWith('.sqlite')) {
    return;
  }
  let found: Readonly<Record<string, number>>;
  try {
    found = checkDatabase(join(staging, name));
  } catch (cause) {
    throw createDamaged(`${name} is no sound database`, cause);
  }
  const isSame =
    Object.keys(found).length === Object.keys(counts).length &&
    Object.entries(counts).every(([table, rows]) => found[table] === rows);
  if (!isSame) {
    throw createDamaged(`${name} has other rows than its manifest says`);
  }
}

function guardFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${path} cannot be written, and nothing was restored; check its directory and free space`,
      { cause },
    );
  }
}

const stagingMark = '.restoring-';

function refuse(problem: string): PoolError {
  return new PoolError('restore_refused', `${problem}. Nothing was restored`);
}
