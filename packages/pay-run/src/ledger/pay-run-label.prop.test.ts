// Spellings that look alike are one label (docs/decisions/0008), for any text.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePayRun } from './pay-run-label.ts';

/** A label in the normal form. */
const label = fc.stringMatching(/^[a-z0-9](?: ?[a-z0-9._-]){1,20}$/);

/** Invisible characters, and other forms of a blank. */
const invisible = fc.constantFrom('', '\u200b', '\u00ad', '\u2060', '\ufeff', '\u202e', '\ufe0f');
const blank = fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u3000', '\u2009');
const blanks = fc.array(blank, { maxLength: 3 }).map((list) => list.join(''));

/** Another spelling of one character that people take for the same one. */
function respell(character: string, how: number): string {
  const isBasic = /[a-z0-9]/.test(character);
  switch (how) {
    case 1:
      return character.toUpperCase();
    case 2:
      // Full width, as an East Asian keyboard writes it.
      return isBasic ? String.fromCodePoint(character.charCodeAt(0) + 0xfee0) : character;
    case 3:
      // With a separate accent, and composed.
      return /[aeiou]/.test(character) ? `${character}\u0301` : character;
    case 4:
      return /[aeiou]/.test(character) ? `${character}\u0301`.normalize('NFC') : character;
    default:
      return character;
  }
}

const respelled = label.chain((original) =>
  fc
    .record({
      before: blanks,
      after: blanks,
      hows: fc.array(fc.nat(5), { minLength: original.length, maxLength: original.length }),
      between: invisible,
      blank,
    })
    .map(({ before, after, hows, between, blank: inner }) => ({
      original,
      spelling: `${before}${[...original]
        .map((character, index) =>
          character === ' ' ? `${inner}${inner}` : respell(character, hows[index] ?? 0),
        )
        .join(between)}${after}`,
    })),
);

function tryParse(text: string): string | undefined {
  try {
    return parsePayRun(text);
  } catch {
    return undefined;
  }
}

describe('parsePayRun', () => {
  it('is idempotent for any text it accepts', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 8 }),
          respelled.map((one) => one.spelling),
        ),
        (text) => {
          const parsed = tryParse(text);
          if (parsed !== undefined) {
            expect(parsePayRun(parsed)).toBe(parsed);
            expect(parsed).toMatch(/^[a-z0-9][a-z0-9._ -]*$/);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('reads every common spelling of a label as that label', () => {
    fc.assert(
      fc.property(respelled, ({ original, spelling }) => {
        expect(parsePayRun(spelling)).toBe(original);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps labels apart that differ in a visible character', () => {
    fc.assert(
      fc.property(label, fc.nat(), (original, pick) => {
        const at = pick % original.length;
        const other = original[at] === '7' ? '8' : '7';
        expect(parsePayRun(original.slice(0, at) + other + original.slice(at + 1))).not.toBe(
          original,
        );
      }),
    );
  });
});
