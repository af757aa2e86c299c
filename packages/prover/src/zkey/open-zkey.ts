/**
 * Opens a Groth16 proving key over BN254, standard (snarkjs' `.zkey`) or compact. It checks everything that does not need every
 * point: container, protocol, fields, counts against lengths, and the fixed points on their curves. Sections are then read piece
 * by piece. A file is never loaded as a whole.
 *
 * @module
 */

import {
  areBelowOrder,
  type ByteSource,
  countZkeyCoefficients,
  countZkeyPoints,
  decodeZkeyHeader,
  findInvalidPoint,
  headerPoints,
  measureZkeyPoints,
  readZkeyCoefficients,
  readZkeyTable,
  toVerificationKey,
  type VerificationKey,
  type ZkeyHeaderFields,
  type ZkeyPointSection,
  type ZkeySectionPlace,
  type ZkeyTable,
  zkeyHeaderBytes,
  zkeyPointBytes,
  zkeyPointGroups,
  zkeySection,
} from '@pool/kernels';
import type { FileSource } from '../base/byte-sources.ts';
import { type FileInput, openFile } from '../base/file-input.ts';
import { assertRuntime } from '../base/runtime.ts';
import { malformed, translate, type Zkey } from './zkey.ts';

// Reads the verification key from a proving key, in the JSON form of snarkjs.

async function readFrom(zkey: Zkey): Promise<VerificationKey> {
  const count = zkey.countPoints('ic');
  const ic = new Uint8Array(zkeyPointBytes.g1 * count);
  await zkey.readPoints('ic', 0, count, ic);
  const key = toVerificationKey(zkey.header, ic);
  // The fixed points were checked when the key was opened.
  if (key.IC.some(([x, y]) => x === '0' && y === '0')) {
    throw malformed(
      'A point of the verification key in the proving key is the point at infinity. Fetch or build the key again.',
    );
  }
  return key;
}

/** Limit for keys from URLs and streams, which are held in memory. A larger one is read from a path or a Blob. */
const maximumBytes = 2 ** 32;

/**
 * Reads the verification key out of a proving key, as `snarkjs zkey export verificationkey` does.
 *
 * @example
 * const verificationKey = await readVerificationKey('multiplier.zkey');
 *
 * @throws ProverError `zkey_malformed`, `artifact_unreadable`, `memory_budget_exceeded`, `argument_invalid`,
 *   `runtime_unsupported`
 */
export async function readVerificationKey(source: FileInput): Promise<VerificationKey> {
  assertRuntime();
  const zkey = await readZkey(await openFile(source, 'proving key', { maximumBytes }));
  try {
    return await translate(readFrom(zkey));
  } finally {
    await zkey.close();
  }
}

function findSection(table: ZkeyTable, name: keyof typeof zkeySection): ZkeySectionPlace {
  const place = table.sections.find(({ id }) => id === zkeySection[name]);
  if (place === undefined) {
    throw malformed(
      `The proving key has no section ${zkeySection[name]} (${name}). Fetch or build it again.`,
    );
  }
  return place;
}

async function readAll(source: ByteSource, place: ZkeySectionPlace): Promise<Uint8Array> {
  const bytes = new Uint8Array(place.length);
  await source.read(place.start, bytes);
  return bytes;
}

async function readProtocol(source: ByteSource, table: ZkeyTable): Promise<void> {
  const place = findSection(table, 'protocol');
  const bytes = place.length === 4 ? await readAll(source, place) : new Uint8Array(4);
  const protocol = new DataView(bytes.buffer).getUint32(0, true);
  if (protocol !== 1) {
    throw malformed(
      `The proving key is for another proof system (protocol ${protocol}). Make one with "snarkjs groth16 setup".`,
    );
  }
}

async function readHeader(source: ByteSource, table: ZkeyTable): Promise<ZkeyHeaderFields> {
  const place = findSection(table, 'header');
  // The decoder checks the length again and distinguishes another curve from damage. This check bounds the read.
  if (place.length > 16 * zkeyHeaderBytes) {
    throw malformed('The header of the proving key is too long. Fetch or build it again.');
  }
  const header = decodeZkeyHeader(await readAll(source, place));
  if (
    headerPoints.some(
      ([name, group]) => findInvalidPoint(group, header[name], 'refused') !== undefined,
    )
  ) {
    throw malformed(
      'A fixed point of the proving key does not lie on the curve. Fetch or build the key again.',
    );
  }
  return header;
}

async function readChecked(source: ByteSource): Promise<Omit<Zkey, 'close'>> {
  const table = await readZkeyTable(source);
  await readProtocol(source, table);
  const header = await readHeader(source, table);
  const coefficientPlace = findSection(table, 'coefficients');
  const coefficients = await countZkeyCoefficients(table.form, source, coefficientPlace);
  const places = new Map(
    (Object.keys(zkeyPointGroups) as ZkeyPointSection[]).map((section) => {
      const place = findSection(table, section);
      const expected = measureZkeyPoints(section, header);
      if (place.length !== expected) {
        throw malformed(
          `Section ${place.id} (${section}) of the proving key has ${place.length} bytes instead of ${expected}.`,
        );
      }
      return [section, place] as const;
    }),
  );

  return {
    header: { ...header, coefficients },
    countPoints: (section) => countZkeyPoints(section, header),
    readPoints: async (section, start, count, into) => {
      const size = zkeyPointBytes[zkeyPointGroups[section]];
      if (start < 0 || count < 0 || start + count > countZkeyPoints(section, header)) {
        throw new RangeError(`section ${section} has no points ${start} to ${start + count}`);
      }
      const target = into.subarray(0, count * size);
      await translate(source.read((places.get(section)?.start ?? 0) + start * size, target));
      if (!areBelowOrder('base', target)) {
        throw malformed(
          `A coordinate in section ${section} of the proving key is not below the field order. Fetch or build the key again.`,
        );
      }
    },
    readCoefficients: () =>
      translate(readZkeyCoefficients(table.form, source, coefficientPlace, header)),
  };
}

/**
 * @param source - closed by the key's `close`, or by an error
 * @throws ProverError `zkey_malformed`, `artifact_unreadable`, `memory_budget_exceeded`
 */
export async function readZkey(source: FileSource): Promise<Zkey> {
  try {
    return { ...(await translate(readChecked(source))), close: source.close };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** @throws ProverError like `readZkey`, and `argument_invalid` */
export async function openZkey(input: FileInput): Promise<Zkey> {
  return await readZkey(await openFile(input, 'proving key'));
}
