/**
 * Files that a command will write.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PoolError } from '@pool/core';
import { ensureAgentHome } from '../state/agent-home.ts';

/**
 * Refuses a file that cannot be made, before anything is asked for what it will contain.
 * @param isOwnFolder - the file is in the agent directory, which is made if it is missing
 * @throws PoolError `file_not_written`
 */
export function assertFree(path: string, isOwnFolder: boolean): void {
  if (existsSync(path)) {
    throw new PoolError(
      'file_not_written',
      `${path} exists, and is not overwritten; name another file with --out. Nothing was sent`,
    );
  }
  const folder = dirname(path);
  const probe = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    if (isOwnFolder) {
      ensureAgentHome(folder);
    }
    // The only certain test: modes do not show a read-only file system, and do not bind every user.
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${folder} does not exist or cannot be written to; make it, or name a file in another directory with --out. Nothing was sent`,
      { cause },
    );
  } finally {
    rmSync(probe, { force: true });
  }
}
