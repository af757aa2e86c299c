/**
 * Converts a proving key's file into the other form: standard (`.zkey`, for snarkjs and its family) or compact (for the cache).
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { convertZkey, openFileSource, type ZkeyForm } from '@pool/kernels';

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
  const from = await openFileSource(source);
  try {
    const to = await open(target, 'wx');
    try {
      for await (const piece of convertZkey(from, form)) {
        hash.update(piece);
        await to.appendFile(piece);
      }
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  return hash.digest('hex');
}
