/**
 * Opens a Groth16 proving key over BN254, standard (snarkjs' `.zkey`) or compact, and checks all of it that does not need every point:
 * container, protocol, fields, counts against lengths, the fixed points on their curves. Sections are then read where they lie, piece
 * by piece; a file is never held whole.
 *
 * @module
 */
import {
  type ByteSource,
  countZkeyCoefficients,
  createMemorySource,
  decodeZkeyHeader,
  readZkeyCoefficients,
  readZkeyTable,
  ZKEY_HEADER_BYTES,
  ZKEY_POINT_BYTES,
  ZKEY_SECTION,
  type ZkeyHeaderFields,
  type ZkeySectionPlace,
  type ZkeyTable,
} from '@pool/kernels';
import { ProverError } from '../errors.ts';
import { openFileSource } from './byte-source.ts';
import { areCoordinatesBelowOrder, isOnG1, isOnG2 } from './curve-check.ts';
import type { PointSection, Zkey } from './zkey.ts';

const malformed = (message: string): ProverError => new ProverError('zkey_malformed', message);

/** Errors of the format become the prover's. */
const translate = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'zkey_malformed') {
      throw error instanceof ProverError ? error : malformed(error.message);
    }
    throw error;
  }
};

const POINT_SECTIONS: readonly PointSection[] = ['ic', 'a', 'b1', 'b2', 'c', 'h'];

const groupOf = (section: PointSection): 'g1' | 'g2' => (section === 'b2' ? 'g2' : 'g1');

const countOf = (section: PointSection, header: ZkeyHeaderFields): number => {
  switch (section) {
    case 'ic':
      return header.publicSignals + 1;
    case 'a':
    case 'b1':
    case 'b2':
      return header.wires;
    case 'c':
      return header.wires - header.publicSignals - 1;
    case 'h':
      return header.domainSize;
  }
};

const findSection = (table: ZkeyTable, name: keyof typeof ZKEY_SECTION): ZkeySectionPlace => {
  const place = table.sections.find(({ id }) => id === ZKEY_SECTION[name]);
  if (place === undefined) {
    throw malformed(
      `The proving key has no section ${ZKEY_SECTION[name]} (${name}). Fetch or build it again.`,
    );
  }
  return place;
};

const readAll = async (source: ByteSource, place: ZkeySectionPlace): Promise<Uint8Array> => {
  const bytes = new Uint8Array(place.length);
  await source.read(place.start, bytes);
  return bytes;
};

const readProtocol = async (source: ByteSource, table: ZkeyTable): Promise<void> => {
  const place = findSection(table, 'protocol');
  const bytes = place.length === 4 ? await readAll(source, place) : new Uint8Array(4);
  const protocol = new DataView(bytes.buffer).getUint32(0, true);
  if (protocol !== 1) {
    throw malformed(
      `The proving key is for another proof system (protocol ${protocol}). Make one with "snarkjs groth16 setup".`,
    );
  }
};

const readHeader = async (source: ByteSource, table: ZkeyTable): Promise<ZkeyHeaderFields> => {
  const place = findSection(table, 'header');
  // Length is checked again by the decoder, which tells another curve from damage; this bounds what is read.
  if (place.length > 16 * ZKEY_HEADER_BYTES) {
    throw malformed('The header of the proving key is too long. Fetch or build it again.');
  }
  const header = decodeZkeyHeader(await readAll(source, place));
  const { alpha1, beta1, beta2, gamma2, delta1, delta2 } = header;
  const all = [alpha1, beta1, beta2, gamma2, delta1, delta2];
  if (
    !all.every(areCoordinatesBelowOrder) ||
    ![alpha1, beta1, delta1].every((point) => isOnG1(point)) ||
    ![beta2, gamma2, delta2].every((point) => isOnG2(point))
  ) {
    throw malformed(
      'A fixed point of the proving key does not lie on the curve. Fetch or build the key again.',
    );
  }
  return header;
};

const readChecked = async (source: ByteSource): Promise<Omit<Zkey, 'close'>> => {
  const table = await readZkeyTable(source);
  await readProtocol(source, table);
  const header = await readHeader(source, table);
  const coefficientPlace = findSection(table, 'coefficients');
  const coefficients = await countZkeyCoefficients(table.form, source, coefficientPlace);
  const places = new Map(
    POINT_SECTIONS.map((section) => {
      const place = findSection(table, section);
      const expected = countOf(section, header) * ZKEY_POINT_BYTES[groupOf(section)];
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
    countPoints: (section) => countOf(section, header),
    readPoints: (section, start, count, into) =>
      translate(
        (async () => {
          const size = ZKEY_POINT_BYTES[groupOf(section)];
          if (start < 0 || count < 0 || start + count > countOf(section, header)) {
            throw new RangeError(`section ${section} has no points ${start} to ${start + count}`);
          }
          const target = into.subarray(0, count * size);
          await source.read((places.get(section)?.start ?? 0) + start * size, target);
          if (!areCoordinatesBelowOrder(target)) {
            throw malformed(
              `A coordinate in section ${section} of the proving key is not below the field order. Fetch or build the key again.`,
            );
          }
        })(),
      ),
    readCoefficients: () =>
      translate(readZkeyCoefficients(table.form, source, coefficientPlace, header)),
  };
};

/**
 * @param source - path of a file, which stays open until `close`; or the bytes themselves
 * @throws ProverError `zkey_malformed`; what the file system says if the file cannot be opened
 */
export const openZkey = async (source: string | Uint8Array): Promise<Zkey> => {
  if (typeof source !== 'string') {
    const checked = await translate(readChecked(createMemorySource(source)));
    return { ...checked, close: () => Promise.resolve() };
  }
  const file = await openFileSource(source);
  try {
    return { ...(await translate(readChecked(file))), close: file.close };
  } catch (error) {
    await file.close();
    throw error;
  }
};
