/**
 * What this package reads from the environment: one value, which is used only to refuse, so that a caller cannot forget to pass it.
 *
 * @module
 */

/** True in a production process (`NODE_ENV=production`). */
export function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production';
}

/** The process's environment with other variables, for a program that it starts. */
export function extendEnvironment(
  variables: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return { ...process.env, ...variables };
}
