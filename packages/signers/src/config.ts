/**
 * What this package reads from the environment: one value, which is used only to refuse, so that a caller cannot forget to pass it. And the
 * error of everything that is configured.
 *
 * @module
 */

import { PoolError } from '@pool/core';

/** @param message - for an operator, without a secret */
export function invalidConfiguration(message: string, cause?: unknown): PoolError {
  return new PoolError('invalid_configuration', message, { cause });
}

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
