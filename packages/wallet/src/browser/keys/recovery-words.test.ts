// The phrases are those of the reference vectors of BIP-39 for 256 bits of entropy.
import { hexToBytes, Secret } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRecoveryWords, parseRecoveryWords } from './recovery-words.ts';

const vectors = [
  [
    '0x7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f',
    'legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title',
  ],
  [
    '0x8080808080808080808080808080808080808080808080808080808080808080',
    'letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless',
  ],
  [
    '0x68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c',
    'hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length',
  ],
  [
    '0xf585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f',
    'void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold',
  ],
] as const;
const [, , [entropy, phrase]] = vectors;
const words = phrase.split(' ');

function refusalOf(text: string): { code: string; message: string; details: unknown } {
  try {
    parseRecoveryWords(text);
  } catch (error) {
    return error as { code: string; message: string; details: unknown };
  }
  throw new Error('the words were accepted');
}

function replaceWord(at: number, word: string): string {
  return words.with(at, word).join(' ');
}

describe('recovery words', () => {
  it.each(vectors)('are %s as 24 words, and give it back', (hex, text) => {
    expect(formatRecoveryWords(new Secret(Uint8Array.from(hexToBytes(hex, 32)))).reveal()).toBe(
      text,
    );
    expect(parseRecoveryWords(text).reveal()).toEqual(hexToBytes(hex, 32));
  });

  it('give back every seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const seed = Uint8Array.from(bytes);
        fc.pre(seed.some((byte) => byte !== 0));
        expect(parseRecoveryWords(formatRecoveryWords(new Secret(seed)).reveal()).reveal()).toEqual(
          seed,
        );
      }),
    );
  });

  it.each([
    ['capitals', phrase.toUpperCase()],
    ['lines, tabs and spaces around', `\n ${words.join(' \r\n\t')}  \n`],
    ['no-break and ideographic spaces', words.join('\u00a0\u3000')],
    ['letters of full width', phrase.replaceAll('a', '\uff41')],
  ])('may be typed with %s', (_, text) => {
    expect(parseRecoveryWords(text).reveal()).toEqual(hexToBytes(entropy, 32));
  });

  it.each([
    ['a word too few', words.slice(1).join(' '), /there are 23 words, and an account has 24/],
    ['a word twice', `${phrase} length`, /there are 25 words/],
    ['nothing', ' ', /there are 0 words/],
    ['a word that is not in the list', replaceWord(6, 'privatee'), /word 7 is not a recovery word/],
    ['an abbreviation', replaceWord(0, 'hams'), /word 1 is not/],
    ['another word of the list', replaceWord(6, 'wave'), /checksum is wrong/],
    ['two words swapped', [...words.slice(0, 22), words[23], words[22]].join(' '), /checksum/],
  ])('with %s are refused', (_, text, message) => {
    expect(refusalOf(text)).toMatchObject({
      code: 'invalid_recovery_words',
      message: expect.stringMatching(message),
    });
  });

  it('are never in the refusal, which has the place of the first wrong word', () => {
    const typed = vectors[0][1].split(' ');
    const unknown = refusalOf(typed.with(22, 'hunter2').join(' '));
    const swapped = refusalOf(typed.with(22, 'zoo').join(' '));
    expect(unknown.details).toEqual({ word: 23 });
    for (const refusal of [unknown, swapped]) {
      expect(refusal).not.toHaveProperty('cause');
      const said = refusal.message.split(/\W+/);
      expect(said.filter((word) => ['hunter2', 'zoo', ...typed].includes(word))).toEqual([]);
    }
  });
});
