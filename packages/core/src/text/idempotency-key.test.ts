/** Quoted spellings: RFC 8941, section 3.3.3. */
import { describe, expect, it } from 'vitest';
import { formatIdempotencyKey, isIdempotencyKey, parseIdempotencyKey } from './idempotency-key.ts';

describe('parseIdempotencyKey', () => {
  it.each([
    ['pay-2026-11', 'pay-2026-11'],
    ['"pay-2026-11"', 'pay-2026-11'],
    ['two words', 'two words'],
    [String.raw`"say \"hi\" \\ bye"`, String.raw`say "hi" \ bye`],
    // Bare values are taken as they are: escapes mean something between quotes only.
    [String.raw`a\"b`, String.raw`a\"b`],
    ['a"b"', 'a"b"'],
    [String.raw`"\"quoted\""`, '"quoted"'],
    ['...', '...'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
  ])('reads %s', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  it.each([
    [undefined],
    [''],
    ['""'],
    ['"'],
    ['"open'],
    ['"a"b"'],
    ['"a" '],
    [String.raw`"a\n"`],
    [String.raw`"a\"`],
    [' a'],
    ['a '],
    ['" a"'],
    ['"a "'],
    [' '],
    ['.'],
    ['..'],
    ['".."'],
    ['x'.repeat(256)],
    ['caf\u00e9'],
    ['a\tb'],
    ['a\nb'],
    ['a\n'],
  ])('refuses %j', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('formatIdempotencyKey', () => {
  it('escapes what the quoted form must escape', () => {
    expect(formatIdempotencyKey('pay-1')).toBe('"pay-1"');
    expect(formatIdempotencyKey(String.raw`a"b\c`)).toBe(String.raw`"a\"b\\c"`);
  });

  it('is read back as the same key, for any key', () => {
    const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
    const keys = [...printable.map((character) => `a${character}z`), '"x"', '\\', '"', '\\"'];
    for (const key of keys) {
      expect(parseIdempotencyKey(formatIdempotencyKey(key))).toBe(key);
    }
  });

  it.each(['', '..', ' a', 'a\r\nX-Other: b'])('refuses %j', (key) => {
    expect(isIdempotencyKey(key)).toBe(false);
    expect(() => formatIdempotencyKey(key)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
