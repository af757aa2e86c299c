/**
 * The holder's archive of sealed notes (protocol §3): a file in the agent's directory, 0600, to which records are only appended. A note
 * whose ciphertext is lost is money lost, so nothing deletes from it.
 *
 * Every record has the same length, begins with a mark and ends with a checksum. So a process that is killed while it writes, and bytes
 * that are damaged, cost the records that they touch and no other. The checksum finds accidents, not forgeries: whoever reads a record
 * opens the note and compares it with the chain.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { bigintToBytes, bytesToHex, bytesToHex32, hexToBytes, isField } from '@pool/core';
import { isCode, syncFolder } from '@pool/storage';
import type { ArchivedNote, NoteArchive } from '../../sync/ports.ts';
import { explainNoteFile } from './note-cache-errors.ts';

const recordMark = Buffer.from('poolnt01');
const sealedBytes = 209;
const checksumBytes = 16;
/** Mark, asset, commitment, transaction, leaf (6 bytes), slot (4), sealed note, checksum. */
const offsets = { assetId: 8, commitment: 40, txHash: 72, leafIndex: 104, slot: 110, sealed: 114 };
const checksumOffset = offsets.sealed + sealedBytes;
const recordBytes = checksumOffset + checksumBytes;

/** Read at once. */
const chunkBytes = 4 * 1024 * 1024;

/** @param path - a file, made 0600 with its first record, or `:memory:` */
export function openNoteArchive(path: string): NoteArchive {
  const file = path === ':memory:' ? createMemoryFile() : createDiskFile(path);
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw explainNoteFile(path, 'note archive', cause);
    }
  };
  return {
    get end() {
      return guard(() => file.size());
    },
    append: (notes) =>
      guard(() => {
        if (notes.length === 0) {
          const end = file.size();
          return { start: end, end };
        }
        return file.append(Buffer.concat(notes.map(encodeRecord)));
      }),
    read: (from) => readRecords(file, from, guard),
  };
}

/** A file that only grows. */
type GrowingFile = {
  size(): number;
  append(bytes: Uint8Array): ReturnType<NoteArchive['append']>;
  /** At most `length` bytes from a position on; empty: the end. */
  readAt(position: number, length: number): Buffer;
};

function createDiskFile(path: string): GrowingFile {
  const size = (): number => {
    try {
      return statSync(path).size;
    } catch (error) {
      if (isCode(error, 'ENOENT')) {
        return 0;
      }
      throw error;
    }
  };
  return {
    size,
    append(bytes) {
      // O_APPEND: records of two processes follow each other.
      const file = openSync(path, 'a', 0o600);
      try {
        const start = fstatSync(file).size;
        for (let written = 0; written < bytes.length; ) {
          written += writeSync(file, bytes, written);
        }
        fsyncSync(file);
        if (start === 0) {
          syncFolder(path);
        }
        const end = fstatSync(file).size;
        return end === start + bytes.length ? { start, end } : undefined;
      } finally {
        closeSync(file);
      }
    },
    readAt(position, length) {
      let file: number;
      try {
        file = openSync(path, 'r');
      } catch (error) {
        if (isCode(error, 'ENOENT')) {
          return Buffer.alloc(0);
        }
        throw error;
      }
      try {
        const bytes = Buffer.allocUnsafe(length);
        return bytes.subarray(0, readSync(file, bytes, 0, length, position));
      } finally {
        closeSync(file);
      }
    },
  };
}

function createMemoryFile(): GrowingFile {
  let content = Buffer.alloc(0);
  return {
    size: () => content.length,
    append(bytes) {
      const start = content.length;
      content = Buffer.concat([content, bytes]);
      return { start, end: content.length };
    },
    readAt: (position, length) => content.subarray(position, position + length),
  };
}

function encodeRecord(note: ArchivedNote): Buffer {
  const record = Buffer.alloc(recordBytes);
  recordMark.copy(record);
  record.set(bigintToBytes(note.assetId, 32), offsets.assetId);
  record.set(bigintToBytes(note.commitment, 32), offsets.commitment);
  record.set(hexToBytes(note.txHash, 32), offsets.txHash);
  record.writeUIntBE(note.leafIndex, offsets.leafIndex, 6);
  record.writeUInt32BE(note.slot, offsets.slot);
  record.set(hexToBytes(note.sealed, sealedBytes), offsets.sealed);
  record.set(computeChecksum(record), checksumOffset);
  return record;
}

function computeChecksum(record: Buffer): Buffer {
  return createHash('sha256')
    .update(record.subarray(0, checksumOffset))
    .digest()
    .subarray(0, checksumBytes);
}

function* readRecords(
  file: GrowingFile,
  from: number,
  guard: <T>(work: () => T) => T,
): Generator<{ readonly position: number; readonly end: number; readonly note: ArchivedNote }> {
  /** Bytes that were read and not used, and the position of the first. */
  let rest = Buffer.alloc(0);
  let position = from;
  for (;;) {
    const chunk = guard(() => file.readAt(position + rest.length, chunkBytes));
    if (chunk.length === 0) {
      return;
    }
    rest = Buffer.concat([rest, chunk]);
    let used = 0;
    for (;;) {
      const found = rest.indexOf(recordMark, used);
      if (found < 0) {
        // A mark can begin in these bytes and end in the next.
        used = Math.max(used, rest.length - recordMark.length + 1);
        break;
      }
      used = found;
      if (found + recordBytes > rest.length) {
        break;
      }
      const note = decodeRecord(rest.subarray(found, found + recordBytes));
      if (note !== undefined) {
        yield { position: position + found, end: position + found + recordBytes, note };
      }
      // A record that was cut off can hide the beginning of the next one.
      used += note === undefined ? 1 : recordBytes;
    }
    position += used;
    rest = rest.subarray(used);
  }
}

/** @returns undefined if it is damaged */
function decodeRecord(record: Buffer): ArchivedNote | undefined {
  if (!computeChecksum(record).equals(record.subarray(checksumOffset))) {
    return undefined;
  }
  const assetId = fieldAt(record, offsets.assetId);
  const commitment = fieldAt(record, offsets.commitment);
  if (!isField(assetId) || !isField(commitment)) {
    return undefined;
  }
  return {
    assetId,
    commitment,
    sealed: bytesToHex(record.subarray(offsets.sealed, checksumOffset)),
    leafIndex: record.readUIntBE(offsets.leafIndex, 6),
    slot: record.readUInt32BE(offsets.slot),
    txHash: bytesToHex32(record.subarray(offsets.txHash, offsets.leafIndex)),
  };
}

function fieldAt(bytes: Buffer, at: number): bigint {
  return BigInt(`0x${bytes.toString('hex', at, at + 32)}`);
}
