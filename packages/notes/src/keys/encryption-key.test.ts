import { hexToBigint } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/encryption-key.json' with { type: 'json' };
import { subgroupOrder } from './baby-jubjub.ts';
import {
  computeEncryptionPublicKey,
  computeX25519PublicKey,
  decodeEncryptionPublicKey,
} from './encryption-key.ts';

const invalidKey = expect.objectContaining({ code: 'invalid_encryption_key' });

describe('encryption keys', () => {
  it.each(vectors.keys)('computes, packs and unpacks $encryptionPublicKey', (vector) => {
    const point = { x: hexToBigint(vector.x), y: hexToBigint(vector.y) };
    expect(computeEncryptionPublicKey(hexToBigint(vector.viewingKey))).toBe(
      vector.encryptionPublicKey,
    );
    expect(decodeEncryptionPublicKey(vector.encryptionPublicKey)).toEqual(point);
  });

  it.each(vectors.keys)(
    'computes the X25519 key $x25519PublicKey of the same scalar [viewing-key.p-per-curve]',
    (vector) => {
      expect(computeX25519PublicKey(hexToBigint(vector.viewingKey))).toBe(vector.x25519PublicKey);
    },
  );

  it('covers both signs', () => {
    const signs = vectors.keys.map(
      ({ encryptionPublicKey: key }) => Number(`0x${key.slice(-2)}`) >> 7,
    );
    expect(new Set(signs)).toEqual(new Set([0, 1]));
  });

  it.each(vectors.invalid)('refuses $why', ({ encryptionPublicKey }) => {
    expect(() => decodeEncryptionPublicKey(encryptionPublicKey)).toThrow(invalidKey);
  });

  it.each([0n, subgroupOrder, -1n])('refuses the viewing key %s', (viewingKey) => {
    for (const compute of [computeEncryptionPublicKey, computeX25519PublicKey]) {
      expect(() => compute(viewingKey)).toThrow(
        expect.objectContaining({ code: 'invalid_viewing_key' }),
      );
    }
  });
});
