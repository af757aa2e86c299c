/**
 * What a batch costs whoever checks it: its root and the keys of its notes, by the kernels. Same answers as
 * {@link computeBatchRoot} and {@link decodeEncryptionPublicKey}, at a tenth of the time.
 *
 * @module
 */
import { assertField, type Field, hexToBytes, PoolError, zeroField } from '@pool/core';
import { createKernels } from '@pool/kernels';
import { hashPoseidonMany } from './scan-poseidon.ts';

export type BatchArithmetic = {
  /** As `computeBatchRoot`. @throws PoolError `invalid_batch_size`, `invalid_field_element` */
  readonly computeBatchRoot: (commitments: readonly Field[]) => Promise<Field>;
  /** A slot whose key `decodeEncryptionPublicKey` refuses; undefined: all are keys. */
  readonly findInvalidKey: (encryptionPublicKeys: readonly string[]) => Promise<number | undefined>;
  /** Ends the threads. */
  readonly close: () => Promise<void>;
};

const keyBytes = 32;

/** A batch of 256 needs a small part of it. */
const maximumBytes = 64 * 1024 * 1024;

/** Any scalar will do: the product is thrown away, the check of the point is what counts. */
const one = Uint8Array.from({ length: keyBytes }, (_, place) => (place === 0 ? 1 : 0));

/** @param options.threads - 1 or more; default: all cores */
export async function createBatchArithmetic(
  options: { readonly threads?: number } = {},
): Promise<BatchArithmetic> {
  const kernels = await createKernels({ ...options, maximumBytes });
  return {
    async computeBatchRoot(commitments) {
      if (!Number.isInteger(Math.log2(commitments.length))) {
        throw new PoolError('invalid_batch_size', 'a batch holds a power of two of commitments');
      }
      let level: readonly Field[] = commitments.map(assertField);
      while (level.length > 1) {
        level = await hashPoseidonMany(kernels, pair(level));
      }
      return level[0] ?? zeroField;
    },
    async findInvalidKey(encryptionPublicKeys) {
      const points = new Uint8Array(keyBytes * encryptionPublicKeys.length);
      for (const [slot, key] of encryptionPublicKeys.entries()) {
        const bytes = tryDecode(key);
        if (bytes === undefined) {
          return slot;
        }
        points.set(bytes, keyBytes * slot);
      }
      const { valid } = await kernels.multiplyPackedPoints(points, one);
      const slot = valid.indexOf(0);
      return slot === -1 ? undefined : slot;
    },
    close: () => kernels.close(),
  };
}

function pair(level: readonly Field[]): (readonly Field[])[] {
  return Array.from({ length: level.length / 2 }, (_, place) =>
    level.slice(2 * place, 2 * place + 2),
  );
}

function tryDecode(key: string): Uint8Array | undefined {
  try {
    return hexToBytes(key, keyBytes);
  } catch {
    return undefined;
  }
}
