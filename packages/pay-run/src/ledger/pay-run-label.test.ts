// The valid pay-run labels, and which spellings are one label (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { parsePayRun } from './pay-run-label.ts';

describe('parsePayRun', () => {
  it.each([
    ['may', 'may'],
    ['MAY', 'may'],
    ['May ', 'may'],
    ['\tmay\n', 'may'],
    ['ｍａｙ', 'may'],
    ['ma\u200by', 'may'],
    ['salary  May\u00a02026', 'salary may 2026'],
    ['mai\u0308', 'mai'],
    ['ma\u00ef', 'mai'],
    ['\u212aw-12', 'kw-12'],
    ['2026-11', '2026-11'],
  ])('reads %j as %j', (typed, label) => {
    expect(parsePayRun(typed)).toBe(label);
  });

  it.each(['', ' ', '\u200b', '../x', '-x', 'x'.repeat(65), 'a/b', 'm\u0430y', '2026\u201311'])(
    'refuses %j',
    (label) => {
      expect(() => parsePayRun(label)).toThrow('--pay-run');
    },
  );

  it('names the character that it refuses', () => {
    expect(() => parsePayRun('2026\u201311')).toThrow('"\u2013" (U+2013)');
    expect(() => parsePayRun('a\u0000b')).toThrow('U+0000');
  });
});
