/**
 * Pages of the holder's note cache: many leaves or many notes as the bytes of one row. A row per leaf would make the checks at each open
 * several times slower. All numbers are big-endian.
 *
 * @module
 */
import {
  assertField,
  bigintToBytes,
  bytesToHex32,
  type Field,
  fieldToHex,
  type Hex,
  hexToBytes,
} from '@pool/core';
import type { ArchivedNote, HistoryLeaf, OwnNote, ReceivedNote, StoredSpend } from '../../sync/ports.ts';
import { DamageError } from './note-cache-errors.ts';

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
};

/** Block (6), commitments (4), nullifiers (4), root, new root, transaction. */
const leafHeaderBytes = 14 + 3 * 32;

const sealedBytes = 209;
/** Leaf (6), slot (4), block (6), amount (16), six words, sealed note, length of the memo. */
const noteOffsets = {
  slot: 6,
  block: 10,
  amount: 16,
  commitment: 32,
  assetId: 64,
  nonce: 96,
  nullifier: 128,
  txHash: 160,
  sealed: 192,
  memoLength: 192 + sealedBytes,
  memo: 193 + sealedBytes,
} as const;
/** In place of the length: the note has no memo. */
const noMemo = 255;

export function encodeLeaf(leaf: HistoryLeaf): Buffer {
  const { blockNumber, commitments, nullifiers } = leaf;
  const header = Buffer.alloc(leafHeaderBytes);
  header.writeUIntBE(blockNumber, 0, 6);
  header.writeUInt32BE(commitments.length, 6);
  header.writeUInt32BE(nullifiers.length, 10);
  header.set(bigintToBytes(leaf.root, 32), 14);
  header.set(bigintToBytes(leaf.newRoot, 32), 46);
  header.set(hexToBytes(leaf.txHash, 32), 78);
  return Buffer.concat([header, joinWords(commitments), joinWords(nullifiers)]);
}

/** @throws DamageError */
export function decodeLeafPage(body: Uint8Array, firstLeaf: number): readonly LeafRow[] {
  const bytes = bufferOf(body);
  const leaves: LeafRow[] = [];
  for (let at = 0; at < bytes.length; ) {
    assertRoom(bytes, at + leafHeaderBytes);
    const commitmentsAt = at + leafHeaderBytes;
    const nullifiersAt = commitmentsAt + 32 * bytes.readUInt32BE(at + 6);
    const end = nullifiersAt + 32 * bytes.readUInt32BE(at + 10);
    assertRoom(bytes, end);
    leaves.push({
      leafIndex: firstLeaf + leaves.length,
      blockNumber: bytes.readUIntBE(at, 6),
      root: bytes.subarray(at + 14, at + 46),
      newRoot: bytes.subarray(at + 46, at + 78),
      txHash: bytes.subarray(at + 78, commitmentsAt),
      commitments: bytes.subarray(commitmentsAt, nullifiersAt),
      nullifiers: bytes.subarray(nullifiersAt, end),
    });
    at = end;
  }
  return leaves;
}

export function readSpend({ nullifiers, ...leaf }: LeafRow): StoredSpend {
  return {
    leafIndex: leaf.leafIndex,
    nullifiers: Array.from({ length: nullifiers.length / 32 }, (_, place) =>
      assertField(fieldAt(nullifiers, 32 * place)),
    ),
    txHash: bytesToHex32(leaf.txHash),
    blockNumber: leaf.blockNumber,
  };
}

export function encodeNote(note: ReceivedNote): Buffer {
  const memo = note.memo === undefined ? undefined : Buffer.from(note.memo, 'utf8');
  const bytes = Buffer.alloc(noteOffsets.memo + (memo?.length ?? 0));
  bytes.writeUIntBE(note.leafIndex, 0, 6);
  bytes.writeUInt32BE(note.slot, noteOffsets.slot);
  bytes.writeUIntBE(note.blockNumber, noteOffsets.block, 6);
  bytes.set(bigintToBytes(note.amount, 16), noteOffsets.amount);
  bytes.set(bigintToBytes(note.commitment, 32), noteOffsets.commitment);
  bytes.set(bigintToBytes(note.assetId, 32), noteOffsets.assetId);
  bytes.set(bigintToBytes(note.nonce, 32), noteOffsets.nonce);
  bytes.set(bigintToBytes(note.nullifier, 32), noteOffsets.nullifier);
  bytes.set(hexToBytes(note.txHash, 32), noteOffsets.txHash);
  bytes.set(hexToBytes(note.sealed, sealedBytes), noteOffsets.sealed);
  bytes.writeUInt8(memo?.length ?? noMemo, noteOffsets.memoLength);
  bytes.set(memo ?? [], noteOffsets.memo);
  return bytes;
}

/** The bytes of each note of a page. @throws DamageError */
export function cutNotePage(body: Uint8Array): readonly Buffer[] {
  const bytes = bufferOf(body);
  const notes: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    assertRoom(bytes, at + noteOffsets.memo);
    const length = bytes.readUInt8(at + noteOffsets.memoLength);
    const end = at + noteOffsets.memo + (length === noMemo ? 0 : length);
    assertRoom(bytes, end);
    notes.push(bytes.subarray(at, end));
    at = end;
  }
  return notes;
}

/** @throws PoolError `invalid_field_element` */
export function decodeNote(bytes: Buffer): OwnNote {
  return {
    ...placeOf(bytes),
    assetId: assertField(fieldAt(bytes, noteOffsets.assetId)),
    amount: BigInt(`0x${bytes.toString('hex', noteOffsets.amount, noteOffsets.commitment)}`),
    nonce: assertField(fieldAt(bytes, noteOffsets.nonce)),
    nullifier: assertField(fieldAt(bytes, noteOffsets.nullifier)),
    memo:
      bytes.readUInt8(noteOffsets.memoLength) === noMemo
        ? undefined
        : bytes.toString('utf8', noteOffsets.memo),
    blockNumber: bytes.readUIntBE(noteOffsets.block, 6),
  };
}

export function decodeReceived(bytes: Buffer): ArchivedNote {
  return {
    ...placeOf(bytes),
    assetId: assertField(fieldAt(bytes, noteOffsets.assetId)),
    sealed: hexAt(bytes, noteOffsets.sealed, noteOffsets.memoLength),
  };
}

/** Whether a note is the one that a leaf has in its slot. */
export function isOfLeaf(note: Buffer, leaf: LeafRow): boolean {
  const at = 32 * note.readUInt32BE(noteOffsets.slot);
  return (
    note.readUIntBE(0, 6) === leaf.leafIndex &&
    at < leaf.commitments.length &&
    leaf.commitments.compare(note, noteOffsets.commitment, noteOffsets.assetId, at, at + 32) === 0
  );
}

export function leafIndexOf(note: Buffer): number {
  return note.readUIntBE(0, 6);
}

function placeOf(bytes: Buffer) {
  return {
    commitment: assertField(fieldAt(bytes, noteOffsets.commitment)),
    leafIndex: leafIndexOf(bytes),
    slot: bytes.readUInt32BE(noteOffsets.slot),
    txHash: hexAt(bytes, noteOffsets.txHash, noteOffsets.sealed) as OwnNote['txHash'],
  };
}

/** 32 bytes as an integer, which need not be a field element. */
export function fieldAt(bytes: Buffer, at: number): bigint {
  return BigInt(`0x${bytes.toString('hex', at, at + 32)}`);
}

/** The bytes as a field element of a leaf. @throws PoolError `invalid_field_element` */
export function wordOf(bytes: Buffer): Field {
  return assertField(fieldAt(bytes, 0));
}

/** A commitment as `findPlaces` compares them: the bytes as text, one character each. */
export function keyOfWord(word: Field): string {
  return Buffer.from(fieldToHex(word).slice(2), 'hex').toString('latin1');
}

function hexAt(bytes: Buffer, from: number, to: number): Hex {
  return `0x${bytes.toString('hex', from, to)}`;
}

function joinWords(words: readonly string[]): Buffer {
  return Buffer.from(words.map((word) => word.slice(2)).join(''), 'hex');
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function assertRoom(bytes: Buffer, end: number): void {
  if (end > bytes.length) {
    throw new DamageError('a page in it is cut off');
  }
}
