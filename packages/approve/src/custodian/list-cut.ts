/**
 * How much the gate reads of what a custodian shows. Whoever asks for signatures decides how large the items of its lists are. Nothing that the
 * gate approves needs more than a few KiB, so a value that is larger is not kept, and the item of which it is counts as foreign.
 *
 * @module
 */
import type { Cut } from '@pool/http-client';

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
