import { bytesToHex32, fieldModulus } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { subgroupOrder } from './baby-jubjub.ts';
import { createSeedSource, deriveSlotOrder } from './seed.ts';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const digest = bytes32.map((bytes) => bytesToHex32(bytes));

describe('seeds', () => {
  it('put every slot in the order exactly once', () => {
    fc.assert(
      fc.property(bytes32, digest, fc.integer({ min: 1, max: 64 }), (seed, salt, size) => {
        const order = deriveSlotOrder(createSeedSource(seed, salt), size);
        expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => i));
      }),
      { numRuns: 50 },
    );
  });

  it('derive values in range that are reproducible and differ by seed, digest, label and index', () => {
    fc.assert(
      fc.property(
        bytes32,
        digest,
        fc.integer({ min: 0, max: 2 ** 32 - 2 }),
        (seed, salt, index) => {
          const source = createSeedSource(seed, salt);
          const value = source.deriveField('pool/v1/fund/secret', index);
          const scalar = source.deriveScalar('pool/v1/fund/ephemeral', index);
          expect(value >= 0n && value < fieldModulus).toBe(true);
          expect(scalar >= 1n && scalar < subgroupOrder).toBe(true);
          const otherSeed = seed.with(0, ((seed[0] ?? 0) + 1) % 256);
          const others = [
            createSeedSource(otherSeed, salt).deriveField('pool/v1/fund/secret', index),
            createSeedSource(seed, bytesToHex32(otherSeed)).deriveField(
              'pool/v1/fund/secret',
              index,
            ),
            source.deriveField('pool/v1/fund/dummy-wallet', index),
            source.deriveField('pool/v1/fund/secret', index + 1),
          ];
          expect(createSeedSource(seed, salt).deriveField('pool/v1/fund/secret', index)).toBe(
            value,
          );
          fc.pre(salt !== bytesToHex32(otherSeed));
          expect(others).not.toContain(value);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('put a recipient into each slot equally often, within statistical error', () => {
    // 1600 seeds over 16 slots: 100 expected each, standard deviation 9.7. A deviation of 6 of them happens once in 10^8 runs,
    // and the seeds are fixed.
    const counts = new Array<number>(16).fill(0);
    for (let i = 0; i < 1600; i += 1) {
      const seed = new Uint8Array(32).fill(i % 256).with(0, i >> 8);
      const [first = 0] = deriveSlotOrder(
        createSeedSource(seed, bytesToHex32(new Uint8Array(32))),
        16,
      );
      counts[first] = (counts[first] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(100 - 58);
    expect(Math.max(...counts)).toBeLessThan(100 + 58);
  });

  it.each([0, 31, 33])('must be 32 bytes, not %i', (length) => {
    expect(() =>
      createSeedSource(new Uint8Array(length), bytesToHex32(new Uint8Array(32))),
    ).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
