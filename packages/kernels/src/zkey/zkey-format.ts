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
import { baseFieldOrder, scalarFieldOrder } from '../runtime/field-orders.ts';

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

/**
 * Reads the table of sections. Sections must follow each other without gaps or overlap and end with the source, and none may
 * occur twice.
 * @throws ZkeyFormatError
 */
export async function readZkeyTable(source: ByteSource): Promise<ZkeyTable> {
  if (source.size < startBytes) {
    throw new ZkeyFormatError('The proving key is empty or cut off. Fetch or build it again.');
  }
  const start = new Uint8Array(startBytes);
  await source.read(0, start);
  const magic = String.fromCharCode(...start.subarray(0, 4));
  const form =
    magic === fileMagic.standard ? 'standard' : magic === fileMagic.compact ? 'compact' : undefined;
  if (form === undefined) {
    throw new ZkeyFormatError('This is not a proving key (.zkey). Check the path.');
  }
  const view = viewOf(start);
  if (view.getUint32(4, true) !== version) {
    throw new ZkeyFormatError(
      `The proving key has format version ${view.getUint32(4, true)}; only version ${version} is supported.`,
    );
  }
  const count = view.getUint32(8, true);
  if (count > maximumSections) {
    throw new ZkeyFormatError(
      `The proving key declares ${count} sections; it is damaged. Fetch or build it again.`,
    );
  }
  const sections: ZkeySectionPlace[] = [];
  const seen = new Set<number>();
  const head = new Uint8Array(headBytes);
  let position = startBytes;
  for (let i = 0; i < count; i++) {
    if (position + headBytes > source.size) {
      throw new ZkeyFormatError('The proving key is cut off. Fetch or build it again.');
    }
    await source.read(position, head);
    const id = viewOf(head).getUint32(0, true);
    const length = viewOf(head).getBigUint64(4, true);
    position += headBytes;
    if (length > BigInt(source.size - position)) {
      throw new ZkeyFormatError(
        `Section ${id} of the proving key is longer than the file, which is cut off. Fetch or build it again.`,
      );
    }
    if (seen.has(id)) {
      throw new ZkeyFormatError(`Section ${id} occurs twice in the proving key.`);
    }
    seen.add(id);
    sections.push({ id, start: position, length: Number(length) });
    position += Number(length);
  }
  if (position !== source.size) {
    throw new ZkeyFormatError(
      `The proving key has ${source.size - position} bytes after its last section. Fetch or build it again.`,
    );
  }
  return { form, sections };
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
export type ZkeyHeaderFields = {
  readonly wires: number;
  readonly publicSignals: number;
  readonly domainSize: number;
  readonly alpha1: Uint8Array;
  readonly beta1: Uint8Array;
  readonly beta2: Uint8Array;
  readonly gamma2: Uint8Array;
  readonly delta1: Uint8Array;
  readonly delta2: Uint8Array;
};

const headerPoints = [
  ['alpha1', 'g1'],
  ['beta1', 'g1'],
  ['beta2', 'g2'],
  ['gamma2', 'g2'],
  ['delta1', 'g1'],
  ['delta2', 'g2'],
] as const;

function encodeFieldOrder(order: bigint): Uint8Array {
  const bytes = new Uint8Array(36);
  const view = viewOf(bytes);
  view.setUint32(0, 32, true);
  for (let word = 0; word < 4; word++) {
    view.setBigUint64(4 + 8 * word, BigInt.asUintN(64, order >> BigInt(64 * word)), true);
  }
  return bytes;
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
  const take = (group: 'g1' | 'g2'): Uint8Array => {
    const point = bytes.slice(position, position + zkeyPointBytes[group]);
    position += zkeyPointBytes[group];
    return point;
  };
  const [alpha1, beta1, beta2, gamma2, delta1, delta2] = [
    take('g1'),
    take('g1'),
    take('g2'),
    take('g2'),
    take('g1'),
    take('g2'),
  ] as const;
  return { wires, publicSignals, domainSize, alpha1, beta1, beta2, gamma2, delta1, delta2 };
}
