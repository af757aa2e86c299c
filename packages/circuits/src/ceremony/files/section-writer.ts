/**
 * Writer of a `.zkey` file that appears under its name only when it is complete. Everything is written to a temporary file beside
 * it, which is flushed and then renamed. An existing file is replaced only on request.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { PoolError } from '@pool/core';
import { encodeZkeySectionHead, encodeZkeyStart } from '@pool/kernels';

export type WriteOptions = {
  /** Replace an existing file. Default: false. */
  readonly force?: boolean | undefined;
};

function refuseToReplace(path: string): PoolError {
  return new PoolError(
    'invalid_option',
    `${path} already exists. Choose another file, or pass --force.`,
  );
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/**
 * Moves a finished file to its name. A hard link fails atomically if the name exists. On file systems without links, the name is
 * checked before.
 */
async function publish(temporary: string, path: string, force: boolean): Promise<void> {
  if (!force) {
    try {
      await link(temporary, path);
      await rm(temporary);
      return;
    } catch (error) {
      if (hasCode(error, ['EEXIST']) || existsSync(path)) {
        throw refuseToReplace(path);
      }
      if (!hasCode(error, ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])) {
        throw error;
      }
    }
  }
  await rename(temporary, path);
}

/**
 * Writes a complete file or nothing: `work` receives a function that appends bytes. If it throws, no file is left.
 * @throws PoolError `invalid_option`
 */
export async function writeFileAtomically<T>(
  path: string,
  { force = false }: WriteOptions,
  work: (append: (bytes: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (!force && existsSync(path)) {
    throw refuseToReplace(path);
  }
  const temporary = `${path}.${randomBytes(6).toString('hex')}.partial`;
  let handle: FileHandle | undefined;
  try {
    const file = await open(temporary, 'wx');
    handle = file;
    const result = await work((bytes) => file.appendFile(bytes));
    await file.sync();
    await file.close();
    handle = undefined;
    await publish(temporary, path, force);
    return result;
  } finally {
    await handle?.close();
    await rm(temporary, { force: true });
  }
}

/** A section to write. Its length is known before its bytes. */
export type SectionContents = {
  readonly id: number;
  readonly length: number;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

/**
 * Writes a complete `.zkey` file with this number of sections, or nothing.
 * @throws PoolError `file_exists`; RangeError if a section does not have its declared length (a defect in this package)
 */
export function writeKeyAtomically<T>(
  path: string,
  options: WriteOptions,
  sections: number,
  work: (append: (section: SectionContents) => Promise<void>) => Promise<T>,
): Promise<T> {
  return writeFileAtomically(path, options, async (append) => {
    await append(encodeZkeyStart('standard', sections));
    return await work(async ({ id, length, chunks }) => {
      await append(encodeZkeySectionHead(id, length));
      let written = 0;
      for await (const chunk of chunks) {
        await append(chunk);
        written += chunk.length;
      }
      if (written !== length) {
        throw new RangeError(`section ${id} has ${written} bytes instead of ${length}`);
      }
    });
  });
}
