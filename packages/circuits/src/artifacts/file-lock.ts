/**
 * A lock between processes of one machine: a file that contains its owner's process id. If the owner has died, the lock is taken
 * over.
 *
 * @module
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 250;

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    return hasCode(error, 'EPERM');
  }
}

/** The owner's process id. Undefined while the file is empty or missing. */
async function readOwner(path: string): Promise<number | undefined> {
  try {
    const owner = Number.parseInt(await readFile(path, 'utf8'), 10);
    return Number.isSafeInteger(owner) && owner > 0 ? owner : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return undefined;
    }
    throw error;
  }
}

async function tryToOwn(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      return false;
    }
    throw error;
  }
}

/**
 * Runs `work` while holding the lock. Waits for another live owner. Two waiters that take over a dead owner's lock at the same
 * moment may both run, so `work` must be correct in that case too (ours renames a finished folder into place).
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  while (!(await tryToOwn(path))) {
    const owner = await readOwner(path);
    if (owner !== undefined && !isAlive(owner)) {
      await rm(path, { force: true });
    } else {
      await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}
