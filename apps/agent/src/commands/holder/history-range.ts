/**
 * The days of a history on the command line, as instants. Every time is UTC.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type RangeOptions = {
  /** A day or an instant. */
  readonly from?: string | undefined;
  /** A day, which is included, or an instant, which is not. */
  readonly to?: string | undefined;
  readonly year?: string | undefined;
};

const dayMs = 86_400_000;

/** @throws PoolError `invalid_request` naming the option */
export function parseRange({ from, to, year }: RangeOptions): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  if (year !== undefined) {
    if (from !== undefined || to !== undefined) {
      throw refuse('--year', 'give either a year, or --from and --to');
    }
    if (!/^[12]\d{3}$/.test(year)) {
      throw refuse('--year', 'give a year, for example 2026');
    }
    return { from: `${year}-01-01T00:00:00Z`, to: `${Number(year) + 1}-01-01T00:00:00Z` };
  }
  const range = {
    from: from === undefined ? undefined : formatInstant(parseTime('--from', from).startMs),
    to: to === undefined ? undefined : formatInstant(parseTime('--to', to).endMs),
  };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to) {
    throw refuse('--to', 'must be after --from');
  }
  return range;
}

function parseTime(option: string, text: string): { startMs: number; endMs: number } {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = isDay ? `${text}T00:00:00Z` : text;
  const startMs = Date.parse(instant);
  // A day that the month does not have would otherwise become one of the next month.
  if (
    !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(instant) ||
    Number.isNaN(startMs) ||
    formatInstant(startMs) !== instant
  ) {
    throw refuse(
      option,
      'give a day such as 2026-05-31, or an instant such as 2026-05-31T12:00:00Z',
    );
  }
  return { startMs, endMs: isDay ? startMs + dayMs : startMs };
}

function formatInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function refuse(option: string, what: string): PoolError {
  return new PoolError('invalid_request', `${option}: ${what}`);
}
