/**
 * The text of an unexpected error.
 *
 * @module
 */
import type { ConfigSource } from '@pool/configuration';

/** One line. The stack is for whoever asks for it: its message may name what the command read. */
export function describeUnexpected(error: unknown, env: ConfigSource['env']): string {
  const isAsked = ['debug', 'trace'].includes(env['DISBURSE_LOG_LEVEL'] ?? '');
  return isAsked
    ? `internal_error: ${error instanceof Error ? error.stack : String(error)}`
    : 'internal_error: an unexpected error; run again with DISBURSE_LOG_LEVEL=debug in the environment';
}
