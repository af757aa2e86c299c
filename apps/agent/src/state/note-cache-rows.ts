/**
 * Rows of the holder's note cache: from and to the values of a sync.
 *
 * @module
 */
import {
  assertField,
  bigintToBytes,
  bytesToBigint,
  bytesToHex32,
  type Field,
  hexToBytes,
} from '@pool/core';
import type { HistoryLeaf, OwnNote, StoredSpend } from '@pool/operations';

/** The file is not one that this program wrote. Its message says why, and names no amount. */
export class DamageError extends Error {}

/** A leaf as the cache stores it. */
export type LeafRow = {
  readonly leafIndex: number;
  readonly root: Uint8Array;
  readonly newRoot: Uint8Array;
  readonly blockNumber: number;
  readonly txHash: Uint8Array;
  /** 32 bytes each. */
  readonly commitments: Uint8Array;
  /** 32 bytes each. */
  readonly nullifiers: Uint8Array;
};

/** A note as the cache stores it. */
export type NoteRow = {
  readonly leafIndex: number;
  readonly slot: number;
  readonly commitment: Uint8Array;
  readonly assetId: Uint8Array;
  /** 16 bytes big-endian. */
  readonly amount: Uint8Array;
  readonly nonce: Uint8Array;
  readonly memo: string | null;
  readonly nullifier: Uint8Array;
  readonly txHash: Uint8Array;
  readonly blockNumber: number;
};

export function createLeafRow(leaf: HistoryLeaf): LeafRow {
  return {
    leafIndex: leaf.leafIndex,
    root: wordOf(leaf.root),
    newRoot: wordOf(leaf.newRoot),
    blockNumber: leaf.blockNumber,
    txHash: hexToBytes(leaf.txHash, 32),
    commitments: joinWords(leaf.commitments),
    nullifiers: joinWords(leaf.nullifiers),
  };
}

export function createNoteRow(note: OwnNote): NoteRow {
  return {
    leafIndex: note.leafIndex,
    slot: note.slot,
    commitment: wordOf(note.commitment),
    assetId: wordOf(note.assetId),
    amount: bigintToBytes(note.amount, 16),
    nonce: wordOf(note.nonce),
    memo: note.memo ?? null,
    nullifier: wordOf(note.nullifier),
    txHash: hexToBytes(note.txHash, 32),
    blockNumber: note.blockNumber,
  };
}

function wordOf(value: Field): Uint8Array {
  return bigintToBytes(value, 32);
}

function joinWords(words: readonly string[]): Uint8Array {
  return Buffer.from(words.map((word) => word.slice(2)).join(''), 'hex');
}

type Row = Readonly<Record<string, unknown>>;

export function readLeafRow(row: Row): LeafRow {
  return {
    leafIndex: Number(row['leaf_index']),
    root: bytesOf(row['root']),
    newRoot: bytesOf(row['new_root']),
    blockNumber: Number(row['block']),
    txHash: bytesOf(row['tx_hash']),
    commitments: bytesOf(row['commitments']),
    nullifiers: bytesOf(row['nullifiers']),
  };
}

export function readNoteRow(row: Row): NoteRow {
  return {
    leafIndex: Number(row['leaf_index']),
    slot: Number(row['slot']),
    commitment: bytesOf(row['commitment']),
    assetId: bytesOf(row['asset_id']),
    amount: bytesOf(row['amount']),
    nonce: bytesOf(row['nonce']),
    memo: memoOf(row['memo']),
    nullifier: bytesOf(row['nullifier']),
    txHash: bytesOf(row['tx_hash']),
    blockNumber: Number(row['block']),
  };
}

function memoOf(value: unknown): string | null {
  if (value !== null && typeof value !== 'string') {
    throw new DamageError('a value in it has the wrong type');
  }
  return value;
}

/** @throws PoolError `invalid_field_element` */
export function createNote(row: NoteRow): OwnNote {
  return {
    commitment: fieldOf(row.commitment),
    leafIndex: row.leafIndex,
    slot: row.slot,
    assetId: fieldOf(row.assetId),
    amount: bytesToBigint(row.amount),
    nonce: fieldOf(row.nonce),
    memo: row.memo ?? undefined,
    nullifier: fieldOf(row.nullifier),
    txHash: bytesToHex32(row.txHash),
    blockNumber: row.blockNumber,
  };
}

export function readSpend(row: Row): StoredSpend {
  const bytes = bytesOf(row['nullifiers']);
  return {
    leafIndex: Number(row['leaf_index']),
    nullifiers: Array.from({ length: bytes.length / 32 }, (_, place) =>
      fieldOf(bytes.subarray(32 * place, 32 * (place + 1))),
    ),
    txHash: bytesToHex32(bytesOf(row['tx_hash'])),
    blockNumber: Number(row['block']),
  };
}

/** @throws DamageError for a value of another type */
export function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) {
    throw new DamageError('a value in it has the wrong type');
  }
  return value;
}

export function fieldOf(value: unknown): Field {
  return assertField(bytesToBigint(bytesOf(value)));
}
