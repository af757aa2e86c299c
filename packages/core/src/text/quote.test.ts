import { describe, expect, it } from 'vitest';
import { quote } from './quote.ts';

describe('quote', () => {
  it.each([
    ['plain text', '"plain text"'],
    ['a" and "b', String.raw`"a\" and \"b"`],
    [String.raw`C:\x`, String.raw`"C:\\x"`],
    ['a\tb\nc', String.raw`"a\tb\u{a}c"`],
    ['1\u00a0500', String.raw`"1\u{a0}500"`],
    ['\u001b[31mred\u202e', String.raw`"\u{1b}[31mred\u{202e}"`],
    ['\ud800', String.raw`"\u{d800}"`],
    ['é😀', '"é😀"'],
  ])('shows %j on one line, and nothing in it ends the quotes', (text, shown) => {
    expect(quote(text)).toBe(shown);
  });

  it('cuts a longer text, by characters', () => {
    expect(quote('😀😀😀', 2)).toBe('"😀😀…"');
    expect(quote('😀😀', 2)).toBe('"😀😀"');
  });
});
