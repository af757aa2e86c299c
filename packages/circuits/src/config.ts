/**
 * The one fact this package reads from the environment, and only to refuse: a caller must not be able to forget to pass it.
 *
 * @module
 */

/** Is this a production process (`NODE_ENV=production`)? */
export function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production';
}
