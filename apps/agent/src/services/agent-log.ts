/**
 * Structured log lines. Callers pass codes, counts and public identifiers only; as a second line, fields
 * whose names promise a secret are cut out, and errors are logged by name and code, never by content.
 *
 * @module
 */
import type { ShellLog } from '@pool/http-server';
import { pino } from 'pino';
import type { LogLevel } from '../config/config.ts';

/** What the parts of the agent need of a log. */
export type AgentLog = Omit<ShellLog, 'child'>;

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** Writes JSON lines to stderr: stdout belongs to results. */
export function createAgentLog(level: LogLevel): ShellLog {
  return pino(
    { level, base: null, redact: { paths: secretNames, remove: true } },
    pino.destination({ dest: 2, sync: true }),
  );
}
