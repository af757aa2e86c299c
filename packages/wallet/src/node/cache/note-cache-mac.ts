/**
 * Authentication of the holder's note cache: a chained HMAC over all pages. Its key derives from the viewing key, so whoever can edit
 * the file and does not have v cannot make an edit that goes unnoticed.
 *
 * @module
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { bigintToBytes } from '@pool/core';

const macBytes = 32;

/** The chain of a table without pages. */
export const emptyChain: Uint8Array = new Uint8Array(macBytes);

/** @param viewingKey - v, secret. @returns 32 bytes, secret */
export function deriveNoteCacheKey(viewingKey: bigint): Uint8Array {
  const ikm = bigintToBytes(viewingKey, 32);
  try {
    return new Uint8Array(hkdfSync('sha256', ikm, '', 'pool/v1/note-cache', macBytes));
  } finally {
    ikm.fill(0);
  }
}

/**
 * The chain's value with one more page.
 * @param before - its value without that page
 * @param id - of the page, so that no page can take the place of another
 */
export function extendChain(
  key: Uint8Array,
  table: 'leaves' | 'notes',
  before: Uint8Array,
  id: number,
  page: Uint8Array,
): Uint8Array {
  return createHmac('sha256', key)
    .update(`${table} ${id} ${page.length} `)
    .update(before)
    .update(page)
    .digest();
}

/** The checkpoint's own MAC: over both chains, and over everything that is stored once. */
export function computeCheckpointMac(
  key: Uint8Array,
  chains: { readonly leaves: Uint8Array; readonly notes: Uint8Array },
  /** Canonical text of the other fields. */
  fields: string,
): Uint8Array {
  return createHmac('sha256', key)
    .update('checkpoint')
    .update(chains.leaves)
    .update(chains.notes)
    .update(fields)
    .digest();
}
