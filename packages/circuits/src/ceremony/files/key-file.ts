/**
 * A `.zkey` file as the ceremony reads it: the contents of its sections, its header, and the check that all lengths agree with
 * the header.
 *
 * @module
 */
import { baseFieldOrder, scalarFieldOrder } from '@pool/kernels';
import { asBuffer, encodeInteger, type Group, pointBytes, readInteger } from '../points/points.ts';
import { malformedFile, openSectionFile, type SectionFile } from './section-file.ts';

/** Numbers of a key's sections. */
export const keySections = {
  protocol: 1,
  header: 2,
  publicWires: 3,
  coefficients: 4,
  a: 5,
  b1: 6,
  b2: 7,
  privateWires: 8,
  quotient: 9,
  contributions: 10,
} as const;

/** Bytes of one entry of the coefficients' section: matrix, row, wire, value. */
export const coefficientBytes = 44;
const groth16 = 1;
const countsAt = 72;
const pointsAt = 84;
const headerBytes = pointsAt + 3 * pointBytes.g1 + 3 * pointBytes.g2;

/** Section 2. Points are in the encoding of files. Public. */
export type KeyHeader = {
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

export type KeyFile = { readonly file: SectionFile; readonly header: KeyHeader };

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function encodeKeyHeader(header: KeyHeader): Buffer {
  return Buffer.concat([
    encodeUint32(32),
    encodeInteger(baseFieldOrder),
    encodeUint32(32),
    encodeInteger(scalarFieldOrder),
    encodeUint32(header.wires),
    encodeUint32(header.publicSignals),
    encodeUint32(header.domainSize),
    header.alpha1,
    header.beta1,
    header.beta2,
    header.gamma2,
    header.delta1,
    header.delta2,
  ]);
}

/** Section 1: the proof system. */
export function encodeProtocol(): Buffer {
  return encodeUint32(groth16);
}

function parseKeyHeader(section: Buffer): KeyHeader {
  if (section.length !== headerBytes) {
    throw malformedFile('zkey', 'its header has another length than a key over BN254');
  }
  if (
    section.readUInt32LE(0) !== 32 ||
    readInteger(section, 4) !== baseFieldOrder ||
    section.readUInt32LE(36) !== 32 ||
    readInteger(section, 40) !== scalarFieldOrder
  ) {
    throw malformedFile('zkey', 'it is not over BN254');
  }
  let position = pointsAt;
  const take = (group: Group): Uint8Array => {
    const start = position;
    position += pointBytes[group];
    return Uint8Array.from(section.subarray(start, position));
  };
  const domainSize = section.readUInt32LE(countsAt + 8);
  const wires = section.readUInt32LE(countsAt);
  const publicSignals = section.readUInt32LE(countsAt + 4);
  if (domainSize < 2 || !Number.isInteger(Math.log2(domainSize)) || publicSignals >= wires) {
    throw malformedFile('zkey', 'the counts in its header contradict each other');
  }
  return {
    wires,
    publicSignals,
    domainSize,
    alpha1: take('g1'),
    beta1: take('g1'),
    beta2: take('g2'),
    gamma2: take('g2'),
    delta1: take('g1'),
    delta2: take('g2'),
  };
}

/** Bytes that each section of points must have. */
export function pointSectionSizes(header: KeyHeader): ReadonlyMap<number, number> {
  return new Map([
    [keySections.publicWires, (header.publicSignals + 1) * pointBytes.g1],
    [keySections.a, header.wires * pointBytes.g1],
    [keySections.b1, header.wires * pointBytes.g1],
    [keySections.b2, header.wires * pointBytes.g2],
    [keySections.privateWires, (header.wires - header.publicSignals - 1) * pointBytes.g1],
    [keySections.quotient, header.domainSize * pointBytes.g1],
  ]);
}

async function checkLengths(file: SectionFile, header: KeyHeader): Promise<void> {
  for (const [id, size] of pointSectionSizes(header)) {
    if (file.sizeOf(id) !== size) {
      throw malformedFile('zkey', `section ${id} has another length than its header says`);
    }
  }
  const { coefficients, contributions } = keySections;
  const count = (await file.read(coefficients, 0, 4)).readUInt32LE(0);
  if (file.sizeOf(coefficients) !== 4 + count * coefficientBytes) {
    throw malformedFile(
      'zkey',
      `section ${coefficients} has another length than its number of entries requires`,
    );
  }
  if (!file.hasSection(contributions)) {
    throw malformedFile('zkey', 'it has no record of contributions');
  }
}

/**
 * Opens a key and checks its form, but not its points. The caller closes `file`.
 * @throws PoolError `invalid_option`, `zkey_malformed`
 */
export async function openKeyFile(path: string): Promise<KeyFile> {
  const file = await openSectionFile(path, 'zkey');
  try {
    const protocol = await file.read(keySections.protocol, 0, 4);
    if (asBuffer(protocol).readUInt32LE(0) !== groth16) {
      throw malformedFile('zkey', 'it is not for Groth16');
    }
    const size = file.sizeOf(keySections.header);
    const header = parseKeyHeader(await file.read(keySections.header, 0, size));
    await checkLengths(file, header);
    return { file, header };
  } catch (error) {
    await file.close();
    throw error;
  }
}
