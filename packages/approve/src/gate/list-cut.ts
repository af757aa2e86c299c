/**
 * How much the gate reads of what a custodian shows. Whoever asks for signatures decides how large the items of its lists are. Nothing that the
 * gate approves needs more than a few KiB, so a value that is larger is not kept, and the item of which it is counts as foreign.
 *
 * @module
 */
import type { Cut } from '@pool/signers';

/** Of one value of an item, for example of the request that is to be signed. */
const maxLength = 64 * 1024;

/** Of a page. A page that is larger is asked for again with fewer items. */
const maxPageBytes = 16 * 1024 * 1024;

/** Of the smallest pages, and of one item alone. Custodians accept far less in one request. */
const maxItemBytes = 64 * 1024 * 1024;

/** @param depth - of the items' fields. @param size - how many items the page has at most */
export function cutPage(depth: number, size: number): Cut {
  return { depth, maxLength, maxBytes: size <= 10 ? maxItemBytes : maxPageBytes };
}

/** One item alone: the fields of the answer are its fields. */
export const cutItem: Cut = { depth: 1, maxLength, maxBytes: maxItemBytes };
