/**
 * Where prepared keys are kept between processes. They are as trusted as the proving keys themselves: nobody else may write there.
 *
 * @module
 */
import { bytesToHex } from '@noble/curves/utils.js';
import { findBuiltin, openFileSource } from '@pool/kernels';
import type { FileSource } from './byte-sources.ts';
import { openFile } from './file-input.ts';

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

async function fileNameOf(name: string): Promise<string> {
  return `${(await sha256Hex(new TextEncoder().encode(name))).slice(0, 32)}${ending}`;
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

function openFolderStore(files: Files, folder: string): KeyStore {
  const pathOf = async (name: string) => `${folder}/${await fileNameOf(name)}`;
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

/** What is used of a page's origin private file system. */
type OriginFile = {
  readonly getFile: () => Promise<File>;
  readonly createWritable: () => Promise<{
    readonly write: (chunk: Uint8Array) => Promise<void>;
    readonly close: () => Promise<void>;
    readonly abort: () => Promise<void>;
  }>;
};
type OriginFolder = {
  readonly getDirectoryHandle: (
    name: string,
    options: { readonly create: true },
  ) => Promise<OriginFolder>;
  readonly getFileHandle: (
    name: string,
    options?: { readonly create: true },
  ) => Promise<OriginFile>;
  readonly entries: () => AsyncIterable<readonly [string, OriginFile | OriginFolder]>;
  readonly removeEntry: (name: string) => Promise<void>;
};
type OriginStorage = { readonly getDirectory: () => Promise<OriginFolder> };

/** A folder of the origin private file system, which only pages of this origin read and write. */
function openOriginStore(storage: OriginStorage, folder: string): KeyStore {
  const find = async () =>
    (await storage.getDirectory()).getDirectoryHandle(folder, { create: true });
  const removeOldest = async (files: OriginFolder): Promise<void> => {
    const aged: { readonly name: string; readonly writtenMs: number }[] = [];
    for await (const [name, entry] of files.entries()) {
      if (name.endsWith(ending) && 'getFile' in entry)
        aged.push({ name, writtenMs: (await entry.getFile()).lastModified });
    }
    const oldest = aged.toSorted((a, b) => b.writtenMs - a.writtenMs).slice(mostKeys);
    for (const { name } of oldest) await files.removeEntry(name);
  };
  return {
    open: async (name) => {
      try {
        const file = await (await find()).getFileHandle(await fileNameOf(name));
        return await openFile(await file.getFile(), 'proving key');
      } catch {
        return undefined;
      }
    },
    write: async (name, chunks) => {
      const files = await find();
      const file = await files.getFileHandle(await fileNameOf(name), { create: true });
      // The contents are replaced when it is closed.
      const writable = await file.createWritable();
      try {
        for await (const chunk of chunks) await writable.write(chunk);
        await writable.close();
      } catch (error) {
        await writable.abort();
        throw error;
      }
      await removeOldest(files);
    },
  };
}

/** A folder of this machine, or in a page of its origin's private file system. It is created if it is missing. */
export function openKeyStore(folder: string): KeyStore | undefined {
  const files = findBuiltin('node:fs/promises');
  if (files !== undefined) return openFolderStore(files, folder);
  const { storage } = navigator as { readonly storage?: OriginStorage };
  return storage === undefined ? undefined : openOriginStore(storage, folder);
}
