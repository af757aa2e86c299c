/**
 * Pages of a custodian's list. An answer has a maximum size, and whoever asks the custodian for signatures decides how large its items are:
 * a page that is too large is asked for again with fewer items.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';

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
