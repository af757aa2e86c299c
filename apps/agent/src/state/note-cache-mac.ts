/**
 * Authentication of the holder's note cache: which bytes of a row are covered, and the chained HMAC over all rows. Its key derives from
 * the viewing key, so whoever can edit the file and does not have v cannot make an edit that goes unnoticed.
 *
 * @module
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { bigintToBytes } from '@pool/core';
import type { LeafRow, NoteRow } from './note-cache-rows.ts';

const macBytes = 32;

/** The chain of a table without rows. */
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

/** One write's link of the chain: everything before it, then its rows. */
export type ChainLink = {
  add(row: LeafRow | NoteRow): void;
  end(): Uint8Array;
};

/**
 * Begins the link of one write. Each value is preceded by its length, so that no two lists of rows have the same bytes.
 * @param before - the chain's value before this write
 */
export function beginLink(
  key: Uint8Array,
  table: 'leaves' | 'notes',
  before: Uint8Array,
  write: number,
): ChainLink {
  const hmac = createHmac('sha256', key).update(`${table} ${write} `).update(before);
  return {
    add(row) {
      if ('newRoot' in row) {
        const { root, newRoot, txHash, commitments, nullifiers } = row;
        hmac.update(
          `${row.leafIndex} ${row.blockNumber} ${commitments.length} ${nullifiers.length} `,
        );
        for (const part of [root, newRoot, txHash, commitments, nullifiers]) {
          hmac.update(part);
        }
      } else {
        const memo = row.memo === null ? undefined : Buffer.from(row.memo, 'utf8');
        const numbers = `${row.leafIndex} ${row.slot} ${row.blockNumber} ${memo?.length ?? -1} `;
        const { commitment, assetId, amount, nonce, nullifier, txHash } = row;
        hmac.update(
          Buffer.concat([
            Buffer.from(numbers),
            ...[commitment, assetId, amount, nonce, nullifier, txHash],
            ...(memo === undefined ? [] : [memo]),
          ]),
        );
      }
    },
    end: () => hmac.digest(),
  };
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
