/**
 * A field of a CSV file. Fields contain texts of other parties.
 *
 * @module
 */

/**
 * One field. A spreadsheet executes a field that begins like a formula; the apostrophe makes such a field text (OWASP, "CSV Injection").
 */
export function encodeCsvField(text: string): string {
  const safe = /^[\s]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
