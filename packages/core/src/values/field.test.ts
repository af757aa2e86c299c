import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/field.json' with { type: 'json' };
import {
  assertField,
  computeTag,
  fieldModulus,
  fieldToHex,
  isField,
  parseField,
  reduceToField,
  splitHalves,
} from './field.ts';
import { hexToBigint } from './hex.ts';

const outside = expect.objectContaining({ code: 'invalid_field_element' });

describe('field elements', () => {
  it('have the modulus of BN254', () => {
    expect(fieldModulus).toBe(hexToBigint(vectors.modulus));
  });

  it.each(vectors.canonical)('reads and writes %s', (hex) => {
    expect(fieldToHex(parseField(hex))).toBe(hex);
    expect(isField(hexToBigint(hex))).toBe(true);
  });

  it.each(vectors.notCanonical)('refuses %s', (hex) => {
    expect(() => parseField(hex)).toThrow(outside);
    expect(() => assertField(hexToBigint(hex))).toThrow(outside);
    expect(() => Reflect.apply(fieldToHex, undefined, [hexToBigint(hex)])).toThrow(outside);
    expect(isField(hexToBigint(hex))).toBe(false);
  });

  it('refuses negative integers', () => {
    expect(() => assertField(-1n)).toThrow(outside);
  });

  it.each([
    '0x1',
    '1',
    `0x${'0'.repeat(62)}`,
    `0x${'0'.repeat(66)}`,
    `0x${'A'.repeat(64)}`,
    5,
    null,
  ])('refuses the spelling %j', (value) => {
    expect(() => parseField(value)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });

  it('reduces bytes', () => {
    expect(reduceToField(new Uint8Array(0))).toBe(0n);
    expect(reduceToField(new Uint8Array(48).fill(255))).toBe((2n ** 384n - 1n) % fieldModulus);
  });
});

it.each(vectors.tags)('the tag of $name', ({ name, tag }) => {
  expect(fieldToHex(computeTag(name))).toBe(tag);
});

it.each(vectors.halves)('the halves of $value', ({ value, lo, hi }) => {
  expect(splitHalves(hexToBigint(value))).toEqual({ lo: hexToBigint(lo), hi: hexToBigint(hi) });
});
