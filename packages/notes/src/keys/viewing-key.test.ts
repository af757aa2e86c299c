import { bigintToHex32, hexToBigint, hexToBytes } from '@pool/core';
import { hashMessage } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/viewing-key.json' with { type: 'json' };
import { subgroupOrder } from './baby-jubjub.ts';
import {
  createViewingKey,
  deriveViewingKey,
  parseViewingKey,
  viewingKeyMessage,
} from './viewing-key.ts';

describe('parseViewingKey', () => {
  it('knows the order of the subgroup', () => {
    expect(bigintToHex32(subgroupOrder)).toBe(vectors.subgroupOrder);
  });

  it.each(vectors.valid)('reads %s', (value) => {
    expect(parseViewingKey(value)).toBe(hexToBigint(value));
  });

  it.each(vectors.invalid)('refuses $why and never repeats it', ({ value }) => {
    try {
      parseViewingKey(value);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_viewing_key' });
      expect(JSON.stringify([String(error), error])).not.toContain(value.slice(2));
      expect(error).not.toHaveProperty('cause');
    }
  });

  it.each([undefined, null, 1n, 5, {}])('refuses a value that is not a string: %s', (value) => {
    expect(() => parseViewingKey(value)).toThrow(
      expect.objectContaining({ code: 'invalid_viewing_key' }),
    );
  });
});

describe('viewingKeyMessage', () => {
  it.each(vectors.messages)(
    'is the fixed text for $domain [viewing-key.derivation]',
    ({ domain, message, digest }) => {
      expect(viewingKeyMessage(domain)).toBe(message);
      expect(hashMessage(viewingKeyMessage(domain))).toBe(digest);
    },
  );

  it.each(['', 'a b', 'a\nb', 'a\u00e9', 'x'.repeat(256)])('refuses the domain %j', (domain) => {
    expect(() => viewingKeyMessage(domain)).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
  });
});

describe('deriveViewingKey', () => {
  it.each(vectors.derived)(
    'derives $viewingKey [viewing-key.derivation]',
    ({ signature, viewingKey }) => {
      expect(deriveViewingKey(hexToBytes(signature))).toBe(hexToBigint(viewingKey));
    },
  );

  it.each(vectors.derivedEd25519)('derives $viewingKey from an ed25519 signature', (vector) => {
    expect(deriveViewingKey(hexToBytes(vector.signature))).toBe(hexToBigint(vector.viewingKey));
  });

  it.each([0, 63, 65])('refuses a signature of %i bytes', (length) => {
    expect(() => deriveViewingKey(new Uint8Array(length))).toThrow(
      expect.objectContaining({ code: 'invalid_signature' }),
    );
  });
});

describe('createViewingKey', () => {
  it.each(vectors.created)('makes $viewingKey of its entropy', ({ entropy, viewingKey }) => {
    expect(createViewingKey(hexToBytes(entropy))).toBe(hexToBigint(viewingKey));
  });

  it('is in the range of a viewing key for the smallest and largest entropy', () => {
    for (const byte of [0x00, 0xff]) {
      const scalar = createViewingKey(new Uint8Array(48).fill(byte));
      expect(scalar).toBeGreaterThanOrEqual(1n);
      expect(scalar).toBeLessThan(subgroupOrder);
    }
  });

  it.each([0, 32, 47, 49])('refuses entropy of %i bytes', (length) => {
    expect(() => createViewingKey(new Uint8Array(length))).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
  });
});
