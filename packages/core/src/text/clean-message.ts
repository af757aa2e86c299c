/**
 * Text from another party, before it is logged, stored or shown.
 *
 * @module
 */

/** Printable ASCII of at most 300 characters: no control codes for a terminal, and no line breaks for a log. */
export function cleanMessage(message: string): string {
  const cleaned = message.replace(/[^\x20-\x7e]+/g, ' ').trim();
  return cleaned.length > 300 ? `${cleaned.slice(0, 300)}...` : cleaned;
}
