// Words that name one machine or one person's tools and mean nothing to a reader of this repository.
// The list is encoded so that this file passes its own check.

const encoded = [
  'c2hhcmVkLw==',
  'LmxpYnJhcnk=',
  'ZmFybS1iZW5jaA==',
  'c3ViYWdlbnQ=',
  'L3dvcmsvbWFpbg==',
];

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

/** The words, matched without regard to case and not inside a longer path segment or word. */
export const bannedWords: readonly string[] = encoded.map(decode);

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

const pattern = new RegExp(`(?<![\\w-])(?:${bannedWords.map(escapeForRegExp).join('|')})`, 'i');

export interface BannedWord {
  /** 1-based. */
  readonly line: number;
  readonly word: string;
}

/** Every line of a text with a banned word. */
export function findBannedWords(text: string): BannedWord[] {
  return text.split('\n').flatMap((line, index) => {
    const word = pattern.exec(line)?.[0];
    return word === undefined ? [] : [{ line: index + 1, word }];
  });
}
