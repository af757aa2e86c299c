/**
 * Quotes a text of another party (a roster's cell, a label, a name) for a message or an operator's terminal. The text must not
 * move the cursor, change a colour, reverse the direction of what follows, or look like the end of its own quotes.
 *
 * @module
 */

/** Control and format characters, all blanks except the space, unpaired surrogates; and what would end the quotes. */
const escaped = /[\p{C}\p{Z}"\\]/u;

/**
 * The text in double quotes, on one line: quotes and backslashes after a backslash, invisible characters as `\u{…}`.
 *
 * @param maxLength - a longer text is cut to this many characters and ends with `…`
 */
export function quote(text: string, maxLength = 120): string {
  const characters = [...text];
  const shown = characters.slice(0, maxLength).map(showCharacter).join('');
  return `"${shown}${characters.length > maxLength ? '…' : ''}"`;
}

function showCharacter(character: string): string {
  if (character === ' ' || !escaped.test(character)) {
    return character;
  }
  switch (character) {
    case '"':
    case '\\':
      return `\\${character}`;
    case '\t':
      return '\\t';
    default:
      return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  }
}
