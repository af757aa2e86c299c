/**
 * Pages of the holder's note cache: many leaves or many notes in one row. A row per leaf would make the checks at each open several
 * times slower. Leaves are bytes, and all their numbers are big-endian. Notes are JSON.
 *
 * @module
 */
import { assertField, bigintToBytes, bytesToHex32, type Field, hexToBytes } from '@pool/core';
import { type NoteJson, parseNotes, stringifyHex } from '../../note-files/note-json.ts';
import type { HistoryLeaf, ReceivedNote, StoredSpend } from '../../sync/ports.ts';
import { DamageError } from './note-cache-errors.ts';

/** Of leaves: one leaf is read with its whole page. */
const pageBytes = 1024 * 1024;

/** A leaf as a page has it: views of the page's bytes. */
export type LeafRow = {
  readonly leafIndex: number;
  readonly blockNumber: number;
  readonly root: Buffer;
  readonly newRoot: Buffer;
  readonly txHash: Buffer;
  /** 32 bytes each. */
  readonly commitments: Buffer;
  /** 32 bytes each. */
  readonly nullifiers: Buffer;
  /** All of it. */
  readonly bytes: Buffer;
};

/** One row of a table of pages. Of leaves, the id is the index of the first one. */
export type Page<TBody> = { readonly id: number; readonly body: TBody };

/** Block (6), commitments (4), nullifiers (4), root, new root, transaction. */
const leafHeaderBytes = 14 + 3 * 32;

export function encodeLeaf(leaf: HistoryLeaf): Buffer {
  const { blockNumber, commitments, nullifiers } = leaf;
  const header = Buffer.alloc(leafHeaderBytes);
  header.writeUIntBE(blockNumber, 0, 6);
  header.writeUInt32BE(commitments.length, 6);
  header.writeUInt32BE(nullifiers.length, 10);
  header.set(bigintToBytes(leaf.root, 32), 14);
  header.set(bigintToBytes(leaf.newRoot, 32), 46);
  header.set(hexToBytes(leaf.txHash, 32), 78);
  const words = [...commitments, ...nullifiers].map((word) => word.slice(2));
  return Buffer.concat([header, Buffer.from(words.join(''), 'hex')]);
}

/** @param leaves - each as {@link encodeLeaf} writes it */
export function* packLeaves(
  firstLeaf: number,
  leaves: readonly Buffer[],
): Generator<Page<Uint8Array>> {
  let page: Buffer[] = [];
  let size = 0;
  for (const [place, leaf] of leaves.entries()) {
    page.push(leaf);
    size += leaf.length;
    if (size >= pageBytes || place === leaves.length - 1) {
      yield { id: firstLeaf + place + 1 - page.length, body: Buffer.concat(page) };
      page = [];
      size = 0;
    }
  }
}

/** @throws DamageError */
export function decodeLeaves({ id, body }: Page<Uint8Array>): readonly LeafRow[] {
  const page = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const leaves: LeafRow[] = [];
  for (let at = 0; at < page.length; ) {
    assertRoom(page, at + leafHeaderBytes);
    const commitmentsAt = at + leafHeaderBytes;
    const nullifiersAt = commitmentsAt + 32 * page.readUInt32BE(at + 6);
    const end = nullifiersAt + 32 * page.readUInt32BE(at + 10);
    assertRoom(page, end);
    leaves.push({
      leafIndex: id + leaves.length,
      blockNumber: page.readUIntBE(at, 6),
      root: page.subarray(at + 14, at + 46),
      newRoot: page.subarray(at + 46, at + 78),
      txHash: page.subarray(at + 78, commitmentsAt),
      commitments: page.subarray(commitmentsAt, nullifiersAt),
      nullifiers: page.subarray(nullifiersAt, end),
      bytes: page.subarray(at, end),
    });
    at = end;
  }
  return leaves;
}

function assertRoom(page: Buffer, end: number): void {
  if (end > page.length) {
    throw new DamageError('a page in it is cut off');
  }
}

export function readSpend({ leafIndex, nullifiers, txHash, blockNumber }: LeafRow): StoredSpend {
  const words = Array.from({ length: nullifiers.length / 32 }, (_, place) =>
    wordOf(nullifiers.subarray(32 * place, 32 * (place + 1))),
  );
  return { leafIndex, nullifiers: words, txHash: bytesToHex32(txHash), blockNumber };
}

/** 32 bytes as a field element of a leaf. @throws PoolError `invalid_field_element` */
export function wordOf(bytes: Buffer): Field {
  return assertField(BigInt(`0x${bytes.toString('hex')}`));
}

/** Notes of one page: a text has a largest length. */
const pageNotes = 4_096;

/** @param first - id of the first page. The ids of the others follow */
export function packNotes(first: number, notes: readonly ReceivedNote[]): readonly Page<string>[] {
  return Array.from({ length: Math.ceil(notes.length / pageNotes) }, (_, place) => ({
    id: first + place,
    body: stringifyHex(notes.slice(place * pageNotes, (place + 1) * pageNotes)),
  }));
}

/** @param body - authentic, so {@link packNotes} wrote it */
export function decodeNotes(body: string): readonly ReceivedNote[] {
  return parseNotes(JSON.parse(body) as readonly NoteJson[]);
}
