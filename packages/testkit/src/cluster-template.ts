/**
 * Initialised database directories, made once and copied for each use: making one takes longer than a copy. They are in `node_modules/.cache`,
 * and hold no table: the program that opens a copy migrates it like a new one.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cacheFolder = fileURLToPath(
  new URL('../../../node_modules/.cache/test-clusters/', import.meta.url),
);

/**
 * @param name - of the program and its version
 * @param make - fills an empty folder
 * @returns the filled folder, which is not to be changed
 */
export async function ensureTemplate(
  name: string,
  make: (folder: string) => Promise<void>,
  cache = cacheFolder,
): Promise<string> {
  const template = join(cache, name);
  if (existsSync(template)) {
    return template;
  }
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'new-'));
  try {
    await make(made);
    // The rename makes the template appear whole or not at all, even if several processes make one at once.
    renameSync(made, template);
  } catch (error) {
    if (!existsSync(template)) {
      throw error;
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return template;
}
