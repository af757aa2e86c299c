/**
 * Converts a proving key's file into the other form: standard (`.zkey`, for snarkjs and its family) or compact (for the cache).
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { type ByteSource, convertZkey, type ZkeyForm, ZkeyFormatError } from '@pool/kernels';

/**
 * Converts a file, piece by piece.
 * @param target must not exist yet
 * @returns SHA-256 of the written file, hex
 * @throws ZkeyFormatError if the source is not a proving key
 */
export async function convertKeyFile(
  source: string,
  form: ZkeyForm,
  target: string,
): Promise<string> {
  const hash = createHash('sha256');
  const from = await open(source, 'r');
  try {
    const bytes: ByteSource = {
      size: (await from.stat()).size,
      read: async (position, into) => {
        for (let done = 0; done < into.length; ) {
          const { bytesRead } = await from.read(into, done, into.length - done, position + done);
          if (bytesRead === 0) {
            throw new ZkeyFormatError('The proving key became shorter while it was read.');
          }
          done += bytesRead;
        }
      },
    };
    const to = await open(target, 'wx');
    try {
      for await (const piece of convertZkey(bytes, form)) {
        hash.update(piece);
        for (let done = 0; done < piece.length; ) {
          done += (await to.write(piece, done)).bytesWritten;
        }
      }
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  return hash.digest('hex');
}
