// The content of a memo (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { findMemoProblem } from './memo.ts';

describe('findMemoProblem', () => {
  it.each([
    ['NUL', 'a\0', 'U+0000'],
    ['an escape sequence', '\u001b[31m', 'U+001B'],
    ['a C1 control character', 'a\u0085', 'U+0085'],
    ['a line break', 'a\nb', 'U+000A'],
    ['a tab', 'a\tb', 'U+0009'],
    ['a paragraph separator', 'a\u2029', 'U+2029'],
    ['an override of direction', 'a\u202e', 'U+202E, which changes the direction of text'],
    ['an isolate', '\u2067a', 'U+2067, which changes the direction of text'],
    ['a mark of direction', '\u061ca', 'U+061C, which changes the direction of text'],
    ['an unpaired surrogate', 'a\ud83d', 'an unpaired surrogate'],
    ['112 bytes', 'é'.repeat(56), '112 bytes of UTF-8; a memo has at most 111'],
  ])('refuses %s by name', (_what, memo, words) => {
    expect(findMemoProblem(memo)).toContain(words);
    expect(findMemoProblem(`canary ${memo}`)).not.toContain('canary');
  });

  it.each(['', 'November', 'Grüße 👩‍👩‍👧', 'راتب نوفمبر', 'שכר', '\u00a0', 'x'.repeat(111)])(
    'accepts %j',
    (memo) => {
      expect(findMemoProblem(memo)).toBeUndefined();
    },
  );
});
