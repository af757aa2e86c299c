/**
 * The `--json` document of commands that say so in their row and the text of an unexpected error.
 *
 * @module
 */
import type { ConfigSource } from '@pool/configuration';
import { isPoolError } from '@pool/core';

/** `ok`: the command did its work. What it found is in the data, and in the exit code. */
type Envelope =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export function formatEnvelope(envelope: Envelope): string {
  return JSON.stringify(envelope, null, 2);
}

export function formatFailure(error: unknown): string {
  const { code, message } = isPoolError(error)
    ? error
    : { code: 'internal_error', message: 'an unexpected error' };
  return formatEnvelope({ ok: false, error: { code, message } });
}

/** One line. The stack is for whoever asks for it: its message may name what the command read. */
export function describeUnexpected(error: unknown, env: ConfigSource['env']): string {
  const isAsked = ['debug', 'trace'].includes(env['DISBURSE_LOG_LEVEL'] ?? '');
  return isAsked
    ? `internal_error: ${error instanceof Error ? error.stack : String(error)}`
    : 'internal_error: an unexpected error; run again with DISBURSE_LOG_LEVEL=debug in the environment';
}
