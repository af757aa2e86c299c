/**
 * Pages of a custodian's list. An answer has a maximum size, and whoever asks the custodian for signatures decides how large its items are:
 * a page that is too large is asked for again with fewer items.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { Cut } from '@pool/http-client';

// How much the gate reads of what a custodian shows. Whoever asks for signatures decides how large the items of its lists are. Nothing that the
// gate approves needs more than a few KiB, so a value that is larger is not kept, and the item of which it is counts as foreign.

/** Of one value of an item, for example of the request that is to be signed. */
const maxLength = 64 * 1024;

/** Of a page. A page that is larger is asked for again with fewer items. */
const maxPageBytes = 16 * 1024 * 1024;

/** Of what cannot be asked for in smaller pieces: what is too large is dropped while it arrives, and the exchange has a time limit. */
const anyBytes = Number.POSITIVE_INFINITY;

/** @param depth - of the items' fields. @param size - how many items the page has at most */
export function cutPage(depth: number, size: number): Cut {
  return { depth, maxLength, maxBytes: size <= 10 ? anyBytes : maxPageBytes };
}

/** Of a page with all items of one millisecond, which cannot be asked for again with fewer items. */
export function cutWidePage(depth: number): Cut {
  return { depth, maxLength, maxBytes: anyBytes };
}

/** One item alone: the fields of the answer are its fields. */
export const cutItem: Cut = { depth: 1, maxLength, maxBytes: anyBytes };

/**
 * @param sizes - items of one page, the largest first. A size that is too large once is not asked for again
 * @param read - throws `custodian_invalid_response` for an answer that is too large
 */
export function createPageReader<TPlace, TPage>(
  sizes: readonly number[],
  read: (size: number, place: TPlace) => Promise<TPage>,
): (place: TPlace) => Promise<TPage> {
  const [first = 1, ...smaller] = sizes;
  let size = first;
  const rest = smaller.filter((one) => one < first);
  return async function readPage(place) {
    try {
      return await read(size, place);
    } catch (error) {
      const next = rest.shift();
      if (errorCodeOf(error) !== 'custodian_invalid_response' || next === undefined) {
        throw error;
      }
      size = next;
      return await readPage(place);
    }
  };
}
