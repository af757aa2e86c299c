/**
 * The only value that this package reads from the environment. It is used only to refuse, and a caller cannot forget to pass it.
 *
 * @module
 */

/** True in a production process (`NODE_ENV=production`). */
export function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production';
}
