/**
 * Quotes a value of a roster in a message of the command. A roster is text of another party: it must not move the cursor,
 * change a colour or reverse the direction of the operator's text.
 *
 * @module
 */

/** A longer value is cut to this many characters. */
const maxShown = 120;

/** The value in double quotes, on one line, with invisible characters written as `\u{…}`. */
export function quote(value: string): string {
  const characters = [...value];
  const shown = characters.slice(0, maxShown).map(showCharacter).join('');
  return `"${shown}${characters.length > maxShown ? '…' : ''}"`;
}

/** Control and format characters, all blanks except the space, and unpaired surrogates. */
const unseen = /[\p{C}\p{Z}]/u;

function showCharacter(character: string): string {
  if (character === ' ' || !unseen.test(character)) {
    return character;
  }
  return character === '\t' ? '\\t' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
