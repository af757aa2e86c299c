/**
 * Logs: one JSON line per event on standard error (standard output carries the `listening` line). Callers
 * pass ids, codes and counts; never bodies, headers, keys or signed texts.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string, name: string): Log {
  return pino({ level, name, base: { name } }, openOutput());
}

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** As a second line of defence, fields with the names of secrets are removed. */
export function createRedactedLog(level: string): Log {
  return pino({ level, base: null, redact: { paths: secretNames, remove: true } }, openOutput());
}

/** Lines that wait for room on a full disk, in characters. Later ones are dropped. */
const waitingLength = 1_000_000;

function openOutput(): DestinationStream {
  const output = destination({ dest: 2, sync: true, maxLength: waitingLength });
  // Without a listener, each line that cannot be written would throw in the middle of the work that it tells of.
  output.on('error', () => undefined);
  return output;
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
