import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bigintToBytes,
  bigintToHex,
  bigintToHex32,
  bytesToBigint,
  bytesToHex,
  hexToBigint,
  hexToBytes,
  parseHex,
} from './hex.ts';

describe('hex', () => {
  it('round-trips bytes, and agrees with Buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(bytesToHex(bytes)).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
        expect(hexToBytes(bytesToHex(bytes))).toEqual(bytes);
      }),
    );
  });

  it('round-trips integers at any width that holds them', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        fc.integer({ min: 1, max: 40 }),
        (value, width) => {
          if (value < 2n ** BigInt(8 * width)) {
            expect(bigintToBytes(value, width)).toHaveLength(width);
            expect(bytesToBigint(bigintToBytes(value, width))).toBe(value);
            expect(hexToBigint(bigintToHex(value, width))).toBe(value);
          } else {
            expect(() => bigintToBytes(value, width)).toThrow(
              expect.objectContaining({ code: 'invalid_value' }),
            );
          }
        },
      ),
    );
  });

  it('knows the edges', () => {
    expect(bytesToBigint(new Uint8Array(0))).toBe(0n);
    expect(bigintToHex32(255n)).toBe(`0x${'0'.repeat(62)}ff`);
    expect(() => bigintToBytes(-1n, 4)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
    expect(parseHex('0x')).toBe('0x');
  });

  it.each([
    '',
    '0',
    '0x0',
    '0X00',
    '0xAA',
    '0xzz',
    '00',
    ' 0x00',
    '0x00\n',
    5,
    null,
    undefined,
    ['0x00'],
  ])('refuses %j', (value) => {
    expect(() => parseHex(value)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });

  it.each(['0x', '0x00', '0x000000'])('refuses %s if two bytes are expected', (value) => {
    expect(() => parseHex(value, 2)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
    expect(() => hexToBytes(value, 2)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
