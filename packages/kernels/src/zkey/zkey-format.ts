/**
 * The container of a Groth16 proving key: sections, in two forms.
 *
 * - `standard` is the `.zkey` file of snarkjs (magic `zkey`, version 1), which every tool of that family reads.
 * - `compact` (magic `pzky`, version 1) is the same container with the same sections, but section 4 is encoded with a dictionary
 *   (zkey-coefficients.ts). This halves the file of a typical circuit, or better. The other magic prevents tools that do not know
 *   the form from misreading it.
 *
 * Layout, all numbers little-endian: 4 bytes magic, u32 version, u32 number of sections; then for each section u32 id, u64 length
 * in bytes, and the bytes.
 *
 * @module
 */

import { baseFieldOrder, encodeIntegers, scalarFieldOrder } from '../runtime/integers.ts';
import { findBuiltin } from '../runtime/module-beside.ts';

export type ZkeyForm = 'standard' | 'compact';

/** Numbers of the sections. `protocol` contains u32 1 for Groth16. */
export const zkeySection = {
  protocol: 1,
  header: 2,
  ic: 3,
  coefficients: 4,
  a: 5,
  b1: 6,
  b2: 7,
  c: 8,
  h: 9,
  contributions: 10,
} as const;

/** Bytes of an affine point in a key. */
export const zkeyPointBytes = { g1: 64, g2: 128 } as const;

/** A file that is not a valid proving key. The message says what is wrong. */
export class ZkeyFormatError extends Error {
  readonly code = 'zkey_malformed';
  readonly retryable = false;

  constructor(message: string) {
    super(message);
    this.name = 'ZkeyFormatError';
  }
}

/** A source of bytes: a file or memory. */
export type ByteSource = {
  /** Length in bytes. */
  readonly size: number;
  /** Fills `into` with the bytes from `position` on. Rejects with ZkeyFormatError if there are too few. */
  readonly read: (position: number, into: Uint8Array) => Promise<void>;
};

/** The place of a section, in bytes from the beginning of the source. */
export type ZkeySectionPlace = {
  readonly id: number;
  readonly start: number;
  readonly length: number;
};

export type ZkeyTable = {
  readonly form: ZkeyForm;
  /** In the order of the file. */
  readonly sections: readonly ZkeySectionPlace[];
};

const fileMagic: Readonly<Record<ZkeyForm, string>> = { standard: 'zkey', compact: 'pzky' };
const version = 1;
const startBytes = 12;
const headBytes = 12;
/** More than any key has. This bounds what a broken file can make us read. */
const maximumSections = 64;

/** The scalar field has roots of unity up to order 2^28, and a proof needs one of twice the domain size. */
const maximumDomainSize = 2 ** 27;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A single read call takes less than 2 GiB. */
const maximumRead = 1 << 30;

/** Opens a file for reading. The size is the current size of the file. */
export async function openFileSource(
  path: string,
): Promise<ByteSource & { readonly close: () => Promise<void> }> {
  const files = findBuiltin('node:fs/promises');
  if (files === undefined) throw new ZkeyFormatError('Only Node reads keys from files.');
  const file = await files.open(path, 'r');
  try {
    return {
      size: (await file.stat()).size,
      read: async (position, into) => {
        for (let done = 0; done < into.length; ) {
          const length = Math.min(into.length - done, maximumRead);
          const { bytesRead } = await file.read(into, done, length, position + done);
          if (bytesRead === 0) {
            throw new ZkeyFormatError('The proving key became shorter while it was read.');
          }
          done += bytesRead;
        }
      },
      // The file was only read, so an error on close loses no data.
      close: () => file.close().catch(() => undefined),
    };
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

/** A source that reads from bytes in memory. */
export function createMemorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: (position, into) => {
      if (position + into.length > bytes.length) {
        return Promise.reject(new ZkeyFormatError('The proving key ends too early.'));
      }
      into.set(bytes.subarray(position, position + into.length));
      return Promise.resolve();
    },
  };
}

/** A file of sections that another party wrote: what people call it, the letters that it may begin with, and its version (1). */
export type SectionFormat = {
  readonly name: string;
  readonly magics: readonly string[];
  readonly version?: number;
};

/**
 * Reads the table of sections. Sections must follow each other without gaps or overlap and end with the source, and none may
 * occur twice.
 * @throws ZkeyFormatError
 */
export async function readSections(
  source: ByteSource,
  { name, magics, version: supported = version }: SectionFormat,
): Promise<{ readonly magic: string; readonly sections: readonly ZkeySectionPlace[] }> {
  const refuse = (what: string) =>
    new ZkeyFormatError(`The ${name} ${what}. Fetch or build it again.`);
  if (source.size < startBytes) throw refuse('is empty or cut off');
  const start = new Uint8Array(startBytes);
  await source.read(0, start);
  const magic = String.fromCharCode(...start.subarray(0, 4));
  if (!magics.includes(magic)) {
    throw new ZkeyFormatError(`This is not a ${name} (.${magics[0]}). Check the path.`);
  }
  const view = viewOf(start);
  const found = view.getUint32(4, true);
  if (found !== supported) {
    throw new ZkeyFormatError(
      `The ${name} has format version ${found}; only version ${supported} is supported.`,
    );
  }
  const count = view.getUint32(8, true);
  if (count > maximumSections) throw refuse(`declares ${count} sections, so it is damaged`);
  const sections: ZkeySectionPlace[] = [];
  const head = new Uint8Array(headBytes);
  let position = startBytes;
  for (let i = 0; i < count; i++) {
    if (position + headBytes > source.size) throw refuse('is cut off');
    await source.read(position, head);
    const id = viewOf(head).getUint32(0, true);
    const length = viewOf(head).getBigUint64(4, true);
    position += headBytes;
    if (length > BigInt(source.size - position)) {
      throw refuse(`is cut off: its section ${id} is longer than the file`);
    }
    if (sections.some((known) => known.id === id)) throw refuse(`has section ${id} twice`);
    sections.push({ id, start: position, length: Number(length) });
    position += Number(length);
  }
  if (position !== source.size) {
    throw refuse(`has ${source.size - position} bytes after its last section`);
  }
  return { magic, sections };
}

/** Reads a key's table of sections. @throws ZkeyFormatError */
export async function readZkeyTable(source: ByteSource): Promise<ZkeyTable> {
  const magics = [fileMagic.standard, fileMagic.compact];
  const { magic, sections } = await readSections(source, { name: 'proving key', magics });
  return { form: magic === fileMagic.compact ? 'compact' : 'standard', sections };
}

/** The first bytes of a key file, before its sections. */
export function encodeZkeyStart(form: ZkeyForm, sections: number): Uint8Array {
  const bytes = new Uint8Array(startBytes);
  for (let i = 0; i < 4; i++) {
    bytes[i] = fileMagic[form].charCodeAt(i);
  }
  viewOf(bytes).setUint32(4, version, true);
  viewOf(bytes).setUint32(8, sections, true);
  return bytes;
}

/** The id and length before a section's bytes. */
export function encodeZkeySectionHead(id: number, length: number): Uint8Array {
  const bytes = new Uint8Array(headBytes);
  viewOf(bytes).setUint32(0, id, true);
  viewOf(bytes).setBigUint64(4, BigInt(length), true);
  return bytes;
}

/**
 * Sizes of the circuit, and the points that do not belong to a wire. Points are in the file's format (coordinates times 2^256 mod
 * q).
 */
export type ZkeyHeaderFields = HeaderPoints & {
  readonly wires: number;
  readonly publicSignals: number;
  readonly domainSize: number;
};

export const headerPoints = [
  ['alpha1', 'g1'],
  ['beta1', 'g1'],
  ['beta2', 'g2'],
  ['gamma2', 'g2'],
  ['delta1', 'g1'],
  ['delta2', 'g2'],
] as const;
type HeaderPoints = Readonly<Record<(typeof headerPoints)[number][0], Uint8Array>>;

function encodeFieldOrder(order: bigint): Uint8Array {
  return Uint8Array.of(32, 0, 0, 0, ...encodeIntegers([order]));
}

const fixedHeaderBytes = 36 + 36 + 12;

/** Length of section 2 in bytes. */
export const zkeyHeaderBytes =
  fixedHeaderBytes + headerPoints.reduce((sum, [, group]) => sum + zkeyPointBytes[group], 0);

/** Section 2. */
export function encodeZkeyHeader(fields: ZkeyHeaderFields): Uint8Array {
  const bytes = new Uint8Array(zkeyHeaderBytes);
  bytes.set(encodeFieldOrder(baseFieldOrder), 0);
  bytes.set(encodeFieldOrder(scalarFieldOrder), 36);
  const view = viewOf(bytes);
  view.setUint32(72, fields.wires, true);
  view.setUint32(76, fields.publicSignals, true);
  view.setUint32(80, fields.domainSize, true);
  let position = fixedHeaderBytes;
  for (const [name, group] of headerPoints) {
    if (fields[name].length !== zkeyPointBytes[group]) {
      throw new RangeError(
        `${name} must be ${zkeyPointBytes[group]} bytes; it has ${fields[name].length}`,
      );
    }
    bytes.set(fields[name], position);
    position += zkeyPointBytes[group];
  }
  return bytes;
}

/** The sections of points, and their group. */
export const zkeyPointGroups = {
  ic: 'g1',
  a: 'g1',
  b1: 'g1',
  b2: 'g2',
  c: 'g1',
  h: 'g1',
} as const;
export type ZkeyPointSection = keyof typeof zkeyPointGroups;

export function countZkeyPoints(
  section: ZkeyPointSection,
  { wires, publicSignals, domainSize }: Omit<ZkeyHeaderFields, keyof HeaderPoints>,
): number {
  const { ic, c, h } = { ic: publicSignals + 1, c: wires - publicSignals - 1, h: domainSize };
  return { ic, c, h, a: wires, b1: wires, b2: wires }[section];
}

/** Bytes of a section of points. */
export function measureZkeyPoints(
  section: ZkeyPointSection,
  header: Omit<ZkeyHeaderFields, keyof HeaderPoints>,
): number {
  return countZkeyPoints(section, header) * zkeyPointBytes[zkeyPointGroups[section]];
}

/**
 * Reads section 2. The curve must be BN254, the domain a power of two for which the scalar field has roots, and there must not be
 * more public signals than wires. The caller checks that the points are on the curve.
 * @throws ZkeyFormatError
 */
export function decodeZkeyHeader(bytes: Uint8Array): ZkeyHeaderFields {
  const sameBytes = (expected: Uint8Array, position: number): boolean =>
    expected.every((byte, i) => bytes[position + i] === byte);
  if (
    !sameBytes(encodeFieldOrder(baseFieldOrder), 0) ||
    !sameBytes(encodeFieldOrder(scalarFieldOrder), 36)
  ) {
    throw new ZkeyFormatError(
      'The proving key is for another curve. Only BN254 (bn128) is supported: compile the circuit with circom --prime bn128.',
    );
  }
  if (bytes.length !== zkeyHeaderBytes) {
    throw new ZkeyFormatError(
      `The header of the proving key has ${bytes.length} bytes instead of ${zkeyHeaderBytes}.`,
    );
  }
  const view = viewOf(bytes);
  const wires = view.getUint32(72, true);
  const publicSignals = view.getUint32(76, true);
  const domainSize = view.getUint32(80, true);
  if (domainSize < 1 || domainSize > maximumDomainSize || (domainSize & (domainSize - 1)) !== 0) {
    throw new ZkeyFormatError(
      `The proving key's domain has ${domainSize} rows, which is not a power of two up to 2^27.`,
    );
  }
  if (publicSignals >= wires) {
    throw new ZkeyFormatError(
      `The proving key declares ${publicSignals} public signals but only ${wires} wires; it is damaged.`,
    );
  }
  let position = fixedHeaderBytes;
  const points = headerPoints.map(([name, group]) => {
    position += zkeyPointBytes[group];
    return [name, bytes.slice(position - zkeyPointBytes[group], position)] as const;
  });
  return { wires, publicSignals, domainSize, ...(Object.fromEntries(points) as HeaderPoints) };
}
