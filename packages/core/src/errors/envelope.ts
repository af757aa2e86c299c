/**
 * What a command prints with `--json`, one line each: `{"ok": true, "data"}` if it did its work, whatever it found, and otherwise
 * `{"ok": false, "error": {"code", "message"}}`, with `problems` where the refusal has a list. A file is no envelope.
 *
 * @module
 */
import { isPoolError } from './pool-error.ts';

/** Also for a command line that is wrong, of which nothing else is known. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** @param data - the document of the command. A bigint becomes a string */
export function formatData(data: unknown): string {
  return JSON.stringify({ ok: true, data }, writeBigint);
}

/** @param value - what a command printed with `--json`, or the document alone, as a page or an earlier version wrote it. @returns the document */
export function openEnvelope(value: unknown): unknown {
  const isEnvelope =
    typeof value === 'object' && value !== null && 'ok' in value && value.ok === true;
  return isEnvelope && 'data' in value ? value.data : value;
}

/** An error without a code is `internal_error`: its message may name what the command read. */
export function formatFailure(error: unknown): string {
  const { code, message, problems } = isPoolError(error)
    ? error
    : { code: 'internal_error', message: 'an unexpected error' };
  return JSON.stringify({ ok: false, error: { code, message, problems } }, writeBigint);
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
