/**
 * Logs: one JSON line per event on standard error (standard output carries the `listening` line). Callers
 * pass ids, codes and counts; never bodies, headers, keys or signed texts.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string, name: string): Log {
  return pino({ level, name, base: { name } }, destination({ dest: 2, sync: true }));
}

/** The parts of an unexpected error that a log line may contain: its class, code and stack frames. */
export function describeFailure(error: unknown): Record<string, string> {
  const code = errorCodeOf(error) ?? libraryCodeOf(error);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  // Frames only: an error's message can quote its input.
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim())
    .join(' | ');
  return {
    error: error instanceof Error ? error.name : typeof error,
    ...(code === undefined ? {} : { code }),
    frames,
  };
}

// Codes of ethers, of Node and of PostgreSQL, such as INSUFFICIENT_FUNDS or 23505: fixed words, never input of a caller.
function libraryCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^([A-Z][A-Z0-9_]{1,40}|[0-9A-Z]{5})$/.test(code)
    ? code
    : undefined;
}
