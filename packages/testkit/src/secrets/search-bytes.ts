/**
 * Searches bytes for the forms of a scalar: a buffer, a file, or a range of a process's memory.
 *
 * Texts are compared without line breaks, spaces, colons and zero bytes, so that PEM, a dump in hex and a string of two bytes for each
 * character are found too. A line break may also be escaped, as in JSON.
 *
 * @module
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ScalarForm } from './scalar-forms.ts';

/** Where a form was found. */
export type Finding = { readonly form: string; readonly where: string };

export type RangeSearch = {
  /** Bytes that were read and compared. */
  readonly searchedBytes: number;
  readonly findings: readonly Finding[];
};

/** From an address, until before another. */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * Reads bytes at a position into the buffer at `offset`.
 * @returns how many were read
 * @throws an error with the code `EIO` or `EFAULT` when the first of them cannot be read
 */
export type ReadAt = (buffer: Buffer, offset: number, length: number, position: number) => number;

const chunkBytes = 1024 * 1024;
const pageBytes = 4096;
/** Kept of what was read before. Every form is shorter, also in lines and with two bytes for each character. */
const overlapBytes = 1024;
const zeros = Buffer.alloc(overlapBytes + chunkBytes);

/** Reads everything of a range that can be read. A page that cannot be read is left out, and is not counted. */
export function searchRange(
  read: ReadAt,
  { from, to }: ByteRange,
  forms: readonly ScalarForm[],
  where: string,
): RangeSearch {
  const buffer = Buffer.alloc(overlapBytes + Math.min(chunkBytes, to - from));
  const texts = Buffer.alloc(buffer.length);
  const found = new Set<string>();
  let searchedBytes = 0;
  let kept = 0;
  let pagesTo = from;
  let at = from;
  while (at < to) {
    const pageEnd = at - (at % pageBytes) + pageBytes;
    const isByPage = at < pagesTo;
    const end = Math.min(to, isByPage ? pageEnd : at + chunkBytes);
    const count = tryRead(read, buffer, kept, end - at, at);
    if (count === 0 && !isByPage) {
      // Some kernels read nothing of a chunk that has one such page.
      pagesTo = end;
    } else if (count === 0) {
      kept = 0;
      at = pageEnd;
    } else {
      searchedBytes += count;
      at += count;
      const present = buffer.subarray(0, kept + count);
      addFound(present, texts, forms, found);
      kept = Math.min(overlapBytes, present.length);
      present.copy(buffer, 0, present.length - kept);
    }
  }
  buffer.fill(0);
  texts.fill(0);
  return { searchedBytes, findings: [...found].map((form) => ({ form, where })) };
}

export function searchBytes(
  bytes: Buffer,
  forms: readonly ScalarForm[],
  where: string,
): readonly Finding[] {
  const found = new Set<string>();
  addFound(bytes, Buffer.alloc(bytes.length), forms, found);
  return [...found].map((form) => ({ form, where }));
}

/** Searches a file, or every file below a directory. */
export function searchFile(path: string, forms: readonly ScalarForm[]): readonly Finding[] {
  const stat = statSync(path);
  if (stat.isDirectory()) {
    return readdirSync(path).flatMap((name) => searchFile(join(path, name), forms));
  }
  if (!stat.isFile()) {
    return [];
  }
  const file = openSync(path, 'r');
  try {
    const read: ReadAt = (...place) => readSync(file, ...place);
    return searchRange(read, { from: 0, to: stat.size }, forms, path).findings;
  } finally {
    closeSync(file);
  }
}

function tryRead(read: ReadAt, ...place: Parameters<ReadAt>): number {
  try {
    return read(...place);
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(EIO|EFAULT)$/.test(String(error.code))) {
      return 0;
    }
    throw error;
  }
}

function addFound(
  bytes: Buffer,
  texts: Buffer,
  forms: readonly ScalarForm[],
  found: Set<string>,
): void {
  // Most of a process's memory was never written, and no form is zeros.
  if (bytes.length <= zeros.length && bytes.equals(zeros.subarray(0, bytes.length))) {
    return;
  }
  const text = texts.subarray(0, copyText(bytes, texts));
  for (const { name, bytes: form, isText } of forms) {
    if (!found.has(name) && (isText ? text : bytes).includes(form)) {
      found.add(name);
    }
  }
}

const isLeftOut = new Uint8Array(256);
for (const character of '\0\t\n\r :') {
  isLeftOut[character.charCodeAt(0)] = 1;
}
const [backslash, n, r] = [0x5c, 0x6e, 0x72];

/** Copies without what may stand between the characters of a text. @returns how many bytes were copied */
function copyText(bytes: Buffer, to: Buffer): number {
  let length = 0;
  let isEscaped = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === backslash) {
      isEscaped = true;
    } else if (isLeftOut[byte] === 0) {
      if (!isEscaped || (byte !== n && byte !== r)) {
        to[length] = byte;
        length += 1;
      }
      isEscaped = false;
    }
  }
  return length;
}
