// Compares the kernels with the vectors and with the code that checks one item at a time.
import { assertField } from '@pool/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import keyVectors from '../../../../vectors/encryption-key.json' with { type: 'json' };
import { computeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { type BatchArithmetic, createBatchArithmetic } from './batch-arithmetic.ts';
import { computeBatchRoot } from './batch-root.ts';

describe('batch arithmetic', () => {
  let arithmetic: BatchArithmetic;
  beforeAll(async () => {
    arithmetic = await createBatchArithmetic({ threads: 1 });
  });
  afterAll(() => arithmetic.close());

  const good = Array.from({ length: 256 }, (_, slot) =>
    computeEncryptionPublicKey(BigInt(slot + 5) ** 20n),
  );

  it.each([1, 2, 16, 64, 256])('computes the root of %i commitments', async (count) => {
    const commitments = Array.from({ length: count }, (_, slot) =>
      assertField(BigInt(slot + 3) ** 31n),
    );
    expect(await arithmetic.computeBatchRoot(commitments)).toBe(computeBatchRoot(commitments));
  });

  it('refuses another number of commitments, and values that are not field elements', async () => {
    for (const count of [0, 3, 255]) {
      await expect(
        arithmetic.computeBatchRoot(Array.from({ length: count }, () => assertField(1n))),
      ).rejects.toMatchObject({ code: 'invalid_value' });
    }
    const outside = [[1n, 2n ** 255n]];
    await expect(
      Reflect.apply(arithmetic.computeBatchRoot, undefined, outside),
    ).rejects.toMatchObject({
      code: 'invalid_field_element',
    });
  });

  it('accepts the keys of the vectors and of a whole batch', async () => {
    const keys = keyVectors.keys.map(({ encryptionPublicKey }) => encryptionPublicKey);
    expect(await arithmetic.findInvalidKey(keys)).toBeUndefined();
    expect(await arithmetic.findInvalidKey(good)).toBeUndefined();
    expect(await arithmetic.findInvalidKey([])).toBeUndefined();
  });

  it.each(keyVectors.invalid)(
    'finds a bad key at any slot: $why',
    async ({ encryptionPublicKey }) => {
      for (const slot of [0, 100, 255]) {
        const keys: string[] = [...good];
        keys[slot] = encryptionPublicKey;
        expect(await arithmetic.findInvalidKey(keys)).toBe(slot);
      }
    },
  );
});
