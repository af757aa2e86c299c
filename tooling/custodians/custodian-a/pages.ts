/**
 * Lists in pages. A page token names the last item of its page, so a list that shrinks between two pages loses none.
 *
 * @module
 */
import { ApiError } from './errors.ts';

type Page<T> = { readonly items: readonly T[]; readonly nextPageToken?: string };

/**
 * @param items in a stable order, the newest last; pages start with the newest
 * @throws ApiError 400 for a limit or token that the simulator did not give out
 */
export function takePage<T extends { readonly id: string }>(
  items: readonly T[],
  matches: (item: T) => boolean,
  query: { readonly limit?: string | undefined; readonly paginationToken?: string | undefined },
  pageSize: number,
): Page<T> {
  const limit = query.limit === undefined ? pageSize : Number(query.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw new ApiError(400, 'limit: must be an integer from 1 to 100');
  }
  const newestFirst = items.toReversed();
  const start =
    query.paginationToken === undefined ? 0 : 1 + find(newestFirst, query.paginationToken);
  const rest = newestFirst.slice(start).filter(matches);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return rest.length > limit && last !== undefined
    ? { items: page, nextPageToken: Buffer.from(last.id, 'utf8').toString('base64url') }
    : { items: page };
}

function find(items: readonly { readonly id: string }[], token: string): number {
  const id = Buffer.from(token, 'base64url').toString('utf8');
  const index = items.findIndex((item) => item.id === id);
  if (index < 0) {
    throw new ApiError(400, 'paginationToken: is not valid');
  }
  return index;
}
