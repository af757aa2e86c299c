/**
 * Shows a value of a roster in a message of the command. A roster is somebody else's text: nothing in it may move
 * the cursor, change a colour or reverse the direction of what the operator reads.
 *
 * @module
 */

/** Characters that are kept of a longer value. */
const maxShown = 120;

/** The value in double quotes, on one line, with what cannot be seen written as `\u{…}`. */
export function quote(value: string): string {
  const characters = [...value];
  const shown = characters.slice(0, maxShown).map(showCharacter).join('');
  return `"${shown}${characters.length > maxShown ? '…' : ''}"`;
}

/** Control and format characters, all blanks but the plain one, and halves of characters. */
const unseen = /[\p{C}\p{Z}]/u;

function showCharacter(character: string): string {
  if (character === ' ' || !unseen.test(character)) {
    return character;
  }
  return character === '\t' ? '\\t' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
