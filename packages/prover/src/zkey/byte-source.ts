/**
 * A file as a source of bytes that is read in pieces.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type ByteSource, ZkeyFormatError } from '@pool/kernels';

export type FileSource = ByteSource & { readonly close: () => Promise<void> };

/** A single read call takes less than 2 GiB. */
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

/** Opens a file for reading. The size is the current size of the file. */
export async function openFileSource(path: string): Promise<FileSource> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return {
      size,
      read: (position, into) => fill(file, position, into),
      // The file was only read, so an error on close loses no data.
      close: () => file.close().catch(() => undefined),
    };
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}
