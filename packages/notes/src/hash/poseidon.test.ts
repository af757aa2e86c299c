import { createHash } from 'node:crypto';
import { assertField, fieldModulus, parseField, zeroField } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/poseidon.json' with { type: 'json' };
import { computeChainHash, poseidon } from './poseidon.ts';
import { poseidonParameters } from './poseidon-parameters.ts';

describe('poseidon', () => {
  it.each(vectors.hashes)('matches poseidon-lite for $inputs.length inputs: $hash', (vector) => {
    expect(poseidon(vector.inputs.map(parseField))).toBe(parseField(vector.hash));
  });

  it('matches the value published with circomlib for (1, 2)', () => {
    expect(poseidon([1n, 2n])).toBe(
      7853200120776062878684798364095072458815029376092732009249414926327459813530n,
    );
  });

  it.each([0, 7])('refuses %i inputs', (length) => {
    const inputs = Array.from({ length }, () => 1n);
    expect(() => poseidon(inputs)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });

  it.each([fieldModulus, fieldModulus + 1n, -1n])('refuses an input outside the field', (input) => {
    expect(() => poseidon([1n, input])).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});

it('computes the constants that were checked, the same object each time', () => {
  const all = [1, 2, 3, 4, 5, 6].map(poseidonParameters);
  const text = JSON.stringify(all, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString(16) : value,
  );
  expect(createHash('sha256').update(text).digest('hex')).toBe(
    '347e203524ee2a5e50f340a33a90908a82fc180a855c93c810c288e72c41d105',
  );
  expect(poseidonParameters(3)).toBe(all[2]);
});

describe('computeChainHash', () => {
  it.each(vectors.chainHashes)('matches for $elements.length elements', (vector) => {
    const elements = vector.elements.map(parseField);
    expect(computeChainHash(parseField(vector.tag), elements)).toBe(parseField(vector.hash));
  });

  const tag = assertField(1n);
  const five = assertField(5n);
  it('distinguishes a list from the same list with one more zero', () => {
    expect(computeChainHash(tag, [five])).not.toBe(computeChainHash(tag, [five, zeroField]));
  });
});
