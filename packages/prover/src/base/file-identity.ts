/**
 * Identifies the file that a path names now. Data derived from the file is valid as long as the identity stays the same.
 *
 * @module
 */
import { stat } from 'node:fs/promises';

/** Changes when the file at the path is written or replaced. */
export async function readFileIdentity(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}:${path}`;
}
