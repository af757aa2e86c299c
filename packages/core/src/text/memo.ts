/**
 * The content of a memo: one line of plain text, at most 111 bytes of UTF-8 (docs/decisions/0008).
 *
 * @module
 */

import { formatCodePoint } from './label.ts';

/** Longest memo of a note, in UTF-8 bytes. */
export const maxMemoBytes = 111;

/**
 * Control characters, line and paragraph separators, and characters that change the direction of text. A recipient reads
 * the memo in a program of their own: an escape sequence would act on a terminal, NUL would end the text early, and
 * reversed text would differ from the approved text.
 */
const refused = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** @returns the problem as a phrase that does not quote the memo; undefined: the memo is valid */
export function findMemoProblem(memo: string): string | undefined {
  if (!memo.isWellFormed()) {
    // Encoding would replace the surrogate, so the recipient would read another text than was written.
    return 'contains an unpaired surrogate, which has no UTF-8 form';
  }
  const found = refused.exec(memo)?.[0];
  if (found !== undefined) {
    const code = formatCodePoint(found);
    return /\p{Bidi_Control}/u.test(found)
      ? `contains the character ${code}, which changes the direction of text; remove it`
      : `contains the control character ${code}; a memo is one line of plain text`;
  }
  const bytes = new TextEncoder().encode(memo).length;
  return bytes > maxMemoBytes
    ? `has ${bytes} bytes of UTF-8; a memo has at most ${maxMemoBytes}`
    : undefined;
}
