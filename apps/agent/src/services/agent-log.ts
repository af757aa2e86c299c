/**
 * Structured log lines. Callers pass codes, counts and public identifiers only; as a second line, fields
 * whose names promise a secret are cut out, and errors are logged by name and code, never by content.
 *
 * @module
 */
import { pino } from 'pino';
import type { LogLevel } from '../config/config.ts';

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type AgentLog = {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** Writes JSON lines to stderr: stdout belongs to results. */
export function createAgentLog(level: LogLevel): AgentLog {
  return pino(
    { level, base: null, redact: { paths: secretNames, remove: true } },
    pino.destination({ dest: 2, sync: true }),
  );
}
