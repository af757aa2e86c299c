/**
 * Where prepared keys are kept between processes. They are as trusted as the proving keys themselves: nobody else may write there.
 *
 * @module
 */
import { bytesToHex } from '@noble/curves/utils.js';
import { findBuiltin, openFileSource } from '@pool/kernels';
import type { FileSource } from './byte-sources.ts';

export type KeyStore = {
  /** @param name - any text. @returns undefined if nothing is kept under that name */
  readonly open: (name: string) => Promise<FileSource | undefined>;
  /** Replaces what is kept under that name. A reader sees the whole old contents or the whole new ones. */
  readonly write: (name: string, chunks: AsyncIterable<Uint8Array>) => Promise<void>;
};

/** Beyond this number the oldest ones are removed. */
const mostKeys = 8;
const ending = '.prepared';
/** No write takes as long. */
const abandonedMs = 3_600_000;

export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

type Files = NonNullable<ReturnType<typeof findBuiltin<'node:fs/promises'>>>;

/** Removes the oldest keys, and what a process left that died while it wrote. */
async function tidy(files: Files, folder: string): Promise<void> {
  const names = (await files.readdir(folder)).filter((name) => name.includes(ending));
  const aged = await Promise.all(
    names.map(async (name) => {
      const path = `${folder}/${name}`;
      return { path, isWhole: name.endsWith(ending), writtenMs: (await files.stat(path)).mtimeMs };
    }),
  );
  const newestFirst = aged.toSorted((a, b) => b.writtenMs - a.writtenMs);
  const old = newestFirst.filter(({ isWhole }) => isWhole).slice(mostKeys);
  const left = aged.filter((one) => !one.isWhole && one.writtenMs < Date.now() - abandonedMs);
  await Promise.all([...old, ...left].map(({ path }) => files.rm(path, { force: true })));
}

/** A folder of this machine. It is created if it is missing. Undefined where there is no file system. */
export function openFolderStore(folder: string): KeyStore | undefined {
  const files = findBuiltin('node:fs/promises');
  if (files === undefined) return undefined;
  const pathOf = async (name: string): Promise<string> => {
    const digest = await sha256Hex(new TextEncoder().encode(name));
    return `${folder}/${digest.slice(0, 32)}${ending}`;
  };
  return {
    open: async (name) => {
      try {
        return await openFileSource(await pathOf(name));
      } catch {
        return undefined;
      }
    },
    write: async (name, chunks) => {
      const path = await pathOf(name);
      await files.mkdir(folder, { recursive: true, mode: 0o700 });
      const fresh = `${path}.${crypto.randomUUID()}`;
      try {
        const file = await files.open(fresh, 'wx', 0o600);
        try {
          for await (const chunk of chunks) await file.writeFile(chunk);
        } finally {
          await file.close();
        }
        await files.rename(fresh, path);
      } catch (error) {
        await files.rm(fresh, { force: true });
        throw error;
      }
      await tidy(files, folder);
    },
  };
}
