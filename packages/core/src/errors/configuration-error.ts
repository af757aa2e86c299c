/**
 * The one form in which agent, gate and platform report a wrong configuration: every problem, one per line.
 *
 * @module
 */
import { PoolError } from './pool-error.ts';

/**
 * @param problems - at least one; each names the variable or file, what is wrong and what is expected, and no value
 * @returns PoolError `invalid_configuration`
 */
export function createConfigurationError(problems: readonly string[]): PoolError {
  const lines = problems.map((problem) => `\n- ${problem}`).join('');
  return new PoolError('invalid_configuration', `the configuration has problems:${lines}`);
}
