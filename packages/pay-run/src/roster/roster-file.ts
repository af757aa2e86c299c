/**
 * Reads a roster file as text (docs/decisions/0008). The message for a file that is not CSV in UTF-8 names its actual
 * format and what to do.
 *
 * The messages contain the path that the operator typed. They are for the command's own terminal, never for a log.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { PoolError, quote } from '@pool/core';

/** The value of `--file` for standard input. */
const standardInput = '-';

/** True if the roster comes from standard input, so that the user cannot answer a question there. */
export function isStandardInput(file: string): boolean {
  return file === standardInput;
}

/** A roster of 100,000 people has about 6 MiB. */
const maxBytes = 64 * 1024 * 1024;

const saveAsCsv = 'save it as "CSV UTF-8" and use that file';

/**
 * @param file - a path, or `-`
 * @param readStandardInput - reads standard input to its end
 * @throws PoolError `invalid_roster`
 */
export function readRosterText(
  file: string,
  readStandardInput: () => Uint8Array = () => readFileSync(0),
): string {
  if (isStandardInput(file)) {
    return decodeRoster(readBytes('standard input', readStandardInput), 'standard input');
  }
  const name = quote(file);
  const bytes = readBytes(name, () => {
    const { size } = statSync(file);
    if (size > maxBytes) {
      throw refuse(
        `${name} has ${Math.ceil(size / 1024 / 1024)} MiB; a roster has at most ${maxBytes / 1024 / 1024}. Check that it is the right file`,
      );
    }
    return readFileSync(file);
  });
  return decodeRoster(bytes, name);
}

function readBytes(name: string, read: () => Uint8Array): Uint8Array {
  try {
    return read();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    switch (code) {
      case 'invalid_roster':
        throw cause;
      case 'ENOENT':
      case 'ENOTDIR':
        throw refuse(`there is no file ${name}; check the path after --file`, cause);
      case 'EISDIR':
        throw refuse(`${name} is a directory; name the CSV file in it`, cause);
      case 'EACCES':
      case 'EPERM':
        throw refuse(`this user has no permission to read ${name}; change its permissions`, cause);
      case 'EAGAIN':
        throw refuse(`${name} has no data yet; pipe or redirect a file into it`, cause);
      default:
        throw refuse(
          `${name} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`,
          cause,
        );
    }
  }
}

/**
 * @param name - the file's name in messages
 * @throws PoolError `invalid_roster`
 */
export function decodeRoster(bytes: Uint8Array, name: string): string {
  if (bytes.length === 0) {
    throw refuse(`${name} is empty; a roster has a header and one line per recipient`);
  }
  const kind = recognise(bytes);
  if (kind !== undefined) {
    throw refuse(`${name} is ${kind}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw refuse(
      `${name} is not UTF-8: line ${findBadLine(bytes)} has bytes of another encoding, most likely Windows-1252 or Latin-1; open it in the program that made it and ${saveAsCsv}`,
      cause,
    );
  }
}

/** First bytes of files that are not CSV. */
const signatures: readonly (readonly [string, readonly number[]])[] = [
  [
    `a spreadsheet or another ZIP archive (xlsx, ods, numbers), not CSV; open it and ${saveAsCsv}`,
    [0x50, 0x4b],
  ],
  [
    `a spreadsheet of an old Excel (xls), not CSV; open it and ${saveAsCsv}`,
    [0xd0, 0xcf, 0x11, 0xe0],
  ],
  [
    'a PDF document, not CSV; export the list from the program that made it',
    [0x25, 0x50, 0x44, 0x46],
  ],
  ['compressed (gzip), not CSV; decompress it first', [0x1f, 0x8b]],
  [`text in UTF-16, not UTF-8; open it and ${saveAsCsv}`, [0xff, 0xfe]],
  [`text in UTF-16, not UTF-8; open it and ${saveAsCsv}`, [0xfe, 0xff]],
];

/** @returns the file's actual format and what to do; undefined: no other known format */
function recognise(bytes: Uint8Array): string | undefined {
  const known = signatures.find(([, magic]) => magic.every((byte, index) => bytes[index] === byte));
  if (known !== undefined) {
    return known[0];
  }
  // In UTF-16 without a byte order mark, every other byte of plain letters is zero.
  const start = bytes.subarray(0, 64);
  const zeros = start.filter((byte) => byte === 0).length;
  if (zeros >= 4 && zeros * 3 >= start.length) {
    return `text in UTF-16 or UTF-32, not UTF-8; open it and ${saveAsCsv}`;
  }
  return start.length === zeros
    ? 'full of zero bytes, not CSV; download or export the file again'
    : undefined;
}

/** The line of the first byte that is not UTF-8, from 1. */
function findBadLine(bytes: Uint8Array): number {
  // Decodes line by line, because a replacement character in the file itself is valid.
  let line = 1;
  let start = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (;;) {
    const end = bytes.indexOf(0x0a, start);
    try {
      decoder.decode(bytes.subarray(start, end === -1 ? undefined : end));
    } catch {
      return line;
    }
    if (end === -1) {
      return line;
    }
    start = end + 1;
    line += 1;
  }
}

function refuse(message: string, cause?: unknown): PoolError {
  return new PoolError('invalid_roster', message, { cause });
}
