/**
 * Writes files as a whole: a reader, and a run that was cut off, leave the old file or the new one.
 *
 * @module
 */
import { findBuiltin } from '@pool/kernels';
import { argumentError } from '../base/errors.ts';

type Files = NonNullable<ReturnType<typeof findBuiltin<'node:fs/promises'>>>;

/** Where a link points to, and what is there now. */
async function findTarget(files: Files, path: string) {
  const target = await files.realpath(path).catch(() => path);
  return { target, stats: await files.stat(target).catch(() => undefined) };
}

/**
 * @param data - wiped by the caller if it is secret
 * @param isSecret - whether only the owner may read the file
 * @throws ProverError `argument_invalid` if it cannot be written
 */
export async function writeWholeFile(
  path: string,
  data: string | Uint8Array,
  isSecret = false,
): Promise<void> {
  const files = findBuiltin('node:fs/promises');
  if (files === undefined) {
    throw argumentError('A browser writes no files. Pass { type: "mem" } as the output.');
  }
  try {
    const { target, stats } = await findTarget(files, path);
    if (stats !== undefined && !stats.isFile()) {
      // A pipe or a terminal (/dev/stdout) cannot be replaced. A folder fails here.
      await files.writeFile(target, data);
      return;
    }
    const fresh = `${target}.${crypto.randomUUID()}.new`;
    try {
      const mode = (stats?.mode ?? 0o666) & (isSecret ? 0o700 : 0o777);
      await files.writeFile(fresh, data, { flag: 'wx', mode, flush: true });
      await files.rename(fresh, target);
    } catch (error) {
      await files.rm(fresh, { force: true }).catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw argumentError(
      `The file ${path} cannot be written. Check that its folder exists, that you may write there, and that the disk has space.`,
      error,
    );
  }
}
