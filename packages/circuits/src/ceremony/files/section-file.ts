/**
 * Reader of `.zkey` and `.ptau` files by sections. Only requested parts are read. Every length is checked against the file before
 * it is used.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  openFileSource,
  readSections,
  ZkeyFormatError,
  type ZkeySectionPlace,
} from '@pool/kernels';

export type SectionFileKind = 'zkey' | 'ptau';

/** An open file. Positions are relative to the beginning of a section. */
export type SectionFile = {
  readonly hasSection: (id: number) => boolean;
  /** Bytes of a section. @throws PoolError `zkey_malformed`, `artifact_malformed` if there is no such section */
  readonly sizeOf: (id: number) => number;
  /** Reads bytes from..from+length-1 of a section. @throws PoolError if the section is shorter */
  readonly read: (id: number, from: number, length: number) => Promise<Buffer>;
  readonly close: () => Promise<void>;
};

const names = { zkey: 'proving key', ptau: 'powers-of-tau file' } as const;

const codes = { zkey: 'zkey_malformed', ptau: 'artifact_malformed' } as const;

/** "The proving key cannot be used: …" with the code of the kind of file. */
export function malformedFile(kind: SectionFileKind, what: string): PoolError {
  return new PoolError(codes[kind], `The ${names[kind]} cannot be used: ${what}.`);
}

/** Gives errors of the format the code of the kind of file. @throws PoolError `zkey_malformed`, `artifact_malformed` */
export async function translateFormat<T>(
  kind: SectionFileKind,
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof ZkeyFormatError)) throw cause;
    throw new PoolError(codes[kind], cause.message, { cause });
  }
}

/**
 * Opens a file and reads its table of sections.
 * @throws PoolError `invalid_option`; `zkey_malformed`, `artifact_malformed`
 */
export async function openSectionFile(path: string, kind: SectionFileKind): Promise<SectionFile> {
  const source = await openFileSource(path).catch((cause: unknown) => {
    throw new PoolError('invalid_option', `The ${names[kind]} ${path} cannot be opened.`, {
      cause,
    });
  });
  try {
    const { sections } = await translateFormat(kind, () =>
      readSections(source, { name: names[kind], magics: [kind] }),
    );
    const find = (wanted: number): ZkeySectionPlace => {
      const section = sections.find(({ id }) => id === wanted);
      if (section === undefined) {
        throw malformedFile(kind, `section ${wanted} is missing`);
      }
      return section;
    };
    return {
      hasSection: (wanted) => sections.some(({ id }) => id === wanted),
      sizeOf: (id) => find(id).length,
      read: async (id, from, length) => {
        const section = find(id);
        if (from + length > section.length) {
          throw malformedFile(kind, `section ${id} is too short`);
        }
        const bytes = Buffer.allocUnsafeSlow(length);
        await translateFormat(kind, () => source.read(section.start + from, bytes));
        return bytes;
      },
      close: source.close,
    };
  } catch (error) {
    await source.close();
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
