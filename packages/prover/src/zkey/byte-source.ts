/**
 * A file as a source of bytes, read where it lies.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type ByteSource, ZkeyFormatError } from '@pool/kernels';

export type FileSource = ByteSource & { readonly close: () => Promise<void> };

/** One read call takes less than 2 GiB. */
const maximumRead = 1 << 30;

async function fill(file: FileHandle, position: number, into: Uint8Array): Promise<void> {
  let done = 0;
  while (done < into.length) {
    const length = Math.min(into.length - done, maximumRead);
    const { bytesRead } = await file.read(into, done, length, position + done);
    if (bytesRead === 0) {
      throw new ZkeyFormatError('The proving key became shorter while it was read.');
    }
    done += bytesRead;
  }
}

/** Opens a file for reading. Its length is the one it has now. */
export async function openFileSource(path: string): Promise<FileSource> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return {
      size,
      read: (position, into) => fill(file, position, into),
      // Nothing was written: an error of closing loses nothing.
      close: () => file.close().catch(() => undefined),
    };
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}
