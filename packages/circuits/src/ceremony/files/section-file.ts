/**
 * Reader of the container of `.zkey` and `.ptau` files: four letters, version 1, then sections with number and length. Only
 * requested parts are read. Every length is checked against the file before it is used.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises';
import { PoolError } from '@pool/core';

export type SectionFileKind = 'zkey' | 'ptau';

/** An open file. Positions are relative to the beginning of a section. */
export type SectionFile = {
  readonly kind: SectionFileKind;
  readonly hasSection: (id: number) => boolean;
  /** Bytes of a section. @throws PoolError `zkey_malformed`, `artifact_malformed` if there is no such section */
  readonly sizeOf: (id: number) => number;
  /** Reads bytes from..from+length-1 of a section. @throws PoolError if the section is shorter */
  readonly read: (id: number, from: number, length: number) => Promise<Buffer>;
  readonly close: () => Promise<void>;
};

const names = { zkey: 'proving key', ptau: 'powers-of-tau file' } as const;
const headBytes = 12;
const mostSections = 64;

const codes = { zkey: 'zkey_malformed', ptau: 'artifact_malformed' } as const;

/** "The proving key cannot be used: …" with the code of the kind of file. */
export function malformedFile(kind: SectionFileKind, what: string): PoolError {
  return new PoolError(codes[kind], `The ${names[kind]} cannot be used: ${what}.`);
}

async function readFully(
  handle: FileHandle,
  kind: SectionFileKind,
  position: number,
  length: number,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) {
      throw malformedFile(kind, 'it is cut off');
    }
    done += bytesRead;
  }
  return bytes;
}

type Section = { readonly start: number; readonly length: number };

async function readTable(handle: FileHandle, kind: SectionFileKind): Promise<Map<number, Section>> {
  const { size } = await handle.stat();
  if (size < headBytes) {
    throw malformedFile(kind, 'it is cut off');
  }
  const head = await readFully(handle, kind, 0, headBytes);
  if (head.toString('latin1', 0, 4) !== kind || head.readUInt32LE(4) !== 1) {
    throw malformedFile(kind, `it does not begin like a .${kind} file of version 1`);
  }
  const count = head.readUInt32LE(8);
  if (count > mostSections) {
    throw malformedFile(kind, 'it declares too many sections');
  }
  const sections = new Map<number, Section>();
  let position = headBytes;
  for (let left = count; left > 0; left--) {
    if (position + headBytes > size) {
      throw malformedFile(kind, 'it is cut off');
    }
    const entry = await readFully(handle, kind, position, headBytes);
    const id = entry.readUInt32LE(0);
    const length = Number(entry.readBigUInt64LE(4));
    const start = position + headBytes;
    if (start + length > size) {
      throw malformedFile(kind, 'it is cut off');
    }
    if (sections.has(id)) {
      throw malformedFile(kind, `section ${id} occurs twice`);
    }
    sections.set(id, { start, length });
    position = start + length;
  }
  if (position !== size) {
    throw malformedFile(kind, 'there are bytes after its last section');
  }
  return sections;
}

/**
 * Opens a file and reads its table of sections.
 * @throws PoolError `invalid_option`; `zkey_malformed`, `artifact_malformed`
 */
export async function openSectionFile(path: string, kind: SectionFileKind): Promise<SectionFile> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw new PoolError('invalid_option', `The ${names[kind]} ${path} cannot be opened.`, {
      cause,
    });
  });
  try {
    const sections = await readTable(handle, kind);
    const find = (id: number): Section => {
      const section = sections.get(id);
      if (section === undefined) {
        throw malformedFile(kind, `section ${id} is missing`);
      }
      return section;
    };
    return {
      kind,
      hasSection: (id) => sections.has(id),
      sizeOf: (id) => find(id).length,
      read: async (id, from, length) => {
        const section = find(id);
        if (from + length > section.length) {
          throw malformedFile(kind, `section ${id} is too short`);
        }
        return await readFully(handle, kind, section.start + from, length);
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Cuts `count` records into runs of at most `most`. Yields the first record and the length of each run. */
export function* chunksOf(
  count: number,
  most: number,
): Generator<{ start: number; count: number }> {
  for (let start = 0; start < count; start += most) {
    yield { start, count: Math.min(most, count - start) };
  }
}
