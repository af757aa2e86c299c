// Words that name one machine or one person's tools and mean nothing to a reader of this repository.
// The list is encoded so that this file passes its own check.

const ENCODED = [
  'c2hhcmVkLw==',
  'LmxpYnJhcnk=',
  'ZmFybS1iZW5jaA==',
  'c3ViYWdlbnQ=',
  'L3dvcmsvbWFpbg==',
];

const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** The words, matched without regard to case and not inside a longer path segment or word. */
export const BANNED_WORDS: readonly string[] = ENCODED.map(decode);

const escapeForRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

const PATTERN = new RegExp(`(?<![\\w-])(?:${BANNED_WORDS.map(escapeForRegExp).join('|')})`, 'i');

export interface BannedWord {
  /** 1-based. */
  readonly line: number;
  readonly word: string;
}

/** Every line of a text that carries a banned word. */
export function findBannedWords(text: string): BannedWord[] {
  return text.split('\n').flatMap((line, index) => {
    const word = PATTERN.exec(line)?.[0];
    return word === undefined ? [] : [{ line: index + 1, word }];
  });
}
