/**
 * Pages of a listing with a cursor, as the co-signer routes have them: 10 to a page, at most 100.
 *
 * @module
 */
import { malformed } from './api-problem.ts';

const prefix = 'after:';

/** @throws ApiProblemError 400 */
export function pageOf<T>(
  items: readonly T[],
  query: Readonly<Record<string, string>>,
): { readonly data: readonly T[]; readonly next: string | null } {
  const size = Number(query['pageSize'] ?? '10');
  if (!Number.isInteger(size) || size < 1 || size > 100) {
    throw malformed('pageSize is not a number from 1 to 100');
  }
  const cursor = query['pageCursor'];
  const from = cursor === undefined ? 0 : readCursor(cursor);
  const end = from + size;
  return {
    data: items.slice(from, end),
    // With the characters of base64, which a query has to encode.
    next: end < items.length ? Buffer.from(`${prefix}${end}`).toString('base64') : null,
  };
}

function readCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64').toString('utf8');
  if (!/^after:\d{1,6}$/.test(text)) {
    throw malformed('pageCursor is not one that was given out');
  }
  return Number(text.slice(prefix.length));
}
