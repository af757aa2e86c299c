/**
 * Labels of accounts, keys and tokens: text that one person writes and another one trusts.
 *
 * @module
 */

/**
 * One line without characters that nobody sees: control and format characters, which are those of zero width and those that change the
 * direction of text, halves of surrogate pairs, and separators. Two labels that look the same must be the same, and databases
 * refuse U+0000.
 */
export const labelPattern = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** @returns the problem of a text that {@link labelPattern} refuses, as a phrase that does not quote the text */
export function describeLabelProblem(text: string): string {
  const found = [...text].find((character) => !labelPattern.test(character)) ?? '';
  return `contains the character ${formatCodePoint(found)}, which people cannot see; remove it`;
}

/** `U+202E` */
export function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
