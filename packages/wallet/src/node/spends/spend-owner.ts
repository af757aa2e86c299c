/**
 * Which process performs a spend, and whether it still runs. The agents and commands of one directory share its archive of spends, and can
 * be in containers that do not see each other's process ids. So each process holds a lock on a file of its own in the directory. The
 * kernel releases it when the process ends, however it ends.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '@pool/storage';
import type { SpendOwner } from '../../archive/spend-archive.ts';

const prefix = 'spend-process-';
const suffix = '.lock';

/** A file of that age was locked long ago, if its process still runs. In milliseconds. */
const staleMs = 3_600_000;

/** @param home - the agent directory. Undefined: no other process has the spends */
export function openSpendOwners(home: string | undefined) {
  const own = randomBytes(16).toString('hex');
  if (home === undefined) {
    return {
      own,
      hasEnded: (owner: SpendOwner | undefined) => owner !== own,
      close: () => undefined,
    };
  }
  const pathOf = (owner: SpendOwner): string => join(home, `${prefix}${owner}${suffix}`);
  removeStale(home);
  const path = pathOf(own);
  const lock = lockFile(path);
  return {
    /** This process. */
    own,
    /** True if nobody performs its spends any more. If that is not known, false: then the deadline of the spend decides. */
    hasEnded: (owner: SpendOwner | undefined) =>
      owner === undefined || (owner !== own && removeIfReleased(pathOf(owner))),
    /** Its spends are given up from now on. */
    close(): void {
      lock.close();
      rmSync(path, { force: true });
    },
  };
}

/** Files of processes that were killed. */
function removeStale(home: string): void {
  for (const name of readdirSync(home)) {
    const path = join(home, name);
    if (name.startsWith(prefix) && name.endsWith(suffix)) {
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
      if (Date.now() - mtimeMs > staleMs) {
        removeIfReleased(path);
      }
    }
  }
}

/** @returns true if no process holds the lock. The file is gone then */
function removeIfReleased(path: string): boolean {
  if (!existsSync(path)) {
    return true;
  }
  try {
    lockFile(path).close();
  } catch {
    return false;
  }
  rmSync(path, { force: true });
  return true;
}
