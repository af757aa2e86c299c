/**
 * Structured log lines. Callers pass only codes, counts and public identifiers. As a second line of defence, fields with
 * the names of secrets are removed. Errors are logged by name and code, never by content.
 *
 * @module
 */

import type { LogLevel } from '@pool/configuration';
import type { ShellLog } from '@pool/http-server';
import { pino } from 'pino';

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** Writes JSON lines to stderr, because stdout is for results. */
export function createAgentLog(level: LogLevel): ShellLog {
  return pino(
    { level, base: null, redact: { paths: secretNames, remove: true } },
    pino.destination({ dest: 2, sync: true }),
  );
}
