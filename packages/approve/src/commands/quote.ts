/**
 * Text of another party in an operator's terminal.
 *
 * @module
 */

/** Control and format characters, all blanks except the space, unpaired surrogates; and what would end the quotes. */
const escaped = /[\p{C}\p{Z}"\\]/gu;

/** In quotation marks, whole, on one line. Nothing in it acts on the terminal or looks like a part of the output. */
export function quote(text: string): string {
  const shown = text.replace(escaped, (character) => {
    if (character === ' ') {
      return character;
    }
    return character === '"' || character === '\\'
      ? `\\${character}`
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return `"${shown}"`;
}
