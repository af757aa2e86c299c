/**
 * The two conversions that the parser of EIP-4361 texts takes from `apg-js`, which has more of them, on a Buffer for browsers.
 *
 * @module
 */

/** The code points of a text. @throws RangeError for half of a surrogate pair */
export function decode(_type: 'STRING', text: string): readonly number[] {
  if (!text.isWellFormed()) {
    throw new RangeError('the text has half a character');
  }
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

/** The text of code points. Its caller asks for the text of a Buffer: a string is its own. */
export function encode(_type: 'UTF16LE', characters: readonly number[]): string {
  return characters.map((character) => String.fromCodePoint(character)).join('');
}
