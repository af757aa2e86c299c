// What a label that people read may contain.
import { describe, expect, it } from 'vitest';
import { labelPattern } from './label.ts';

/** Every one of them, by its code point. */
const refused = [
  ...range(0x00, 0x1f),
  ...range(0x7f, 0x9f),
  // Soft hyphen, Arabic letter mark, zero width, marks of direction, separators, embeddings, word joiner, isolates, byte order mark.
  ...[0xad, 0x061c],
  ...range(0x200b, 0x200f),
  ...range(0x2028, 0x202e),
  ...range(0x2060, 0x2064),
  ...range(0x2066, 0x206f),
  0xfeff,
  // Half of a pair, and a tag.
  ...[0xd800, 0xdfff, 0xe0041],
];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
}

describe('labelPattern', () => {
  it.each(refused)('refuses the character with the number %i at each place', (code) => {
    const hidden = String.fromCodePoint(code);
    for (const text of [hidden, `${hidden}Payroll`, `Pay${hidden}roll`, `Payroll${hidden}`]) {
      expect(labelPattern.test(text)).toBe(false);
    }
  });

  it.each([
    'Payroll',
    'Grüße & Söhne',
    'راتب نوفمبر',
    'שכר',
    '給与',
    'a\u0308',
    '❤\ufe0f',
    '👍🏽',
    '\u00a0',
    '',
  ])('accepts %j', (text) => {
    expect(labelPattern.test(text)).toBe(true);
  });
});
