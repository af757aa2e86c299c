/**
 * Logs: one JSON line per event on standard error (standard output carries the `listening` line). Callers
 * pass ids, codes and counts; never bodies, headers, keys or signed texts.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { destination, type Logger, type LoggerOptions, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string, name: string): Log {
  return openLog({ level, name, base: { name } });
}

const secretNames = ['authorization', 'token', 'apiKey', 'privateKey', 'seed', 'secret'];

/** As a second line of defence, fields with the names of secrets are removed. */
export function createRedactedLog(level: string): Log {
  return openLog({ level, base: null, redact: { paths: secretNames, remove: true } });
}

/** Lines that wait for room on a full disk, in bytes. Later ones are lost. */
const waitingLength = 1_000_000;

function openLog(options: LoggerOptions): Log {
  const output = destination({ dest: 2, sync: true, maxLength: waitingLength });
  const log = pino(options, output);
  let lost = 0;
  // Without a listener, each line that cannot be written would throw in the middle of the work that it tells of.
  output.on('error', () => undefined);
  output.on('drop', () => {
    lost += 1;
    // A line that is dropped does not try to write those that wait; an empty one does.
    output.write('');
  });
  // After the lines that waited are written.
  output.on('drain', () => {
    if (lost > 0) {
      const lines = lost;
      lost = 0;
      log.warn({ lines }, 'lines of this log are lost: standard error could not be written');
    }
  });
  return log;
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
