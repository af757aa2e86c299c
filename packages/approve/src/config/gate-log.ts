/**
 * Structured log lines: ids, codes and counts, never an amount, a recipient or a secret. Fields with the names of secrets are removed as
 * a second line of defence.
 *
 * @module
 */

import type { LogLevel } from '@pool/configuration';
import type { ShellLog } from '@pool/http-server';
import { pino } from 'pino';

/** What the parts of the gate need of a log. */
export type GateLog = Omit<ShellLog, 'child'>;

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** Writes JSON lines to stderr, because stdout is for results. */
export function createGateLog(level: LogLevel): ShellLog {
  return pino(
    { level, base: null, redact: { paths: secretNames, remove: true } },
    pino.destination({ dest: 2, sync: true }),
  );
}
