/**
 * Converts a proving key into the other form: compact to standard for tools of the snarkjs family, standard to compact for
 * storage.
 *
 * @module
 */
import { readZkeyCoefficients } from './zkey-coefficients.ts';
import { encodeZkeyCoefficients, measureZkeyCoefficients } from './zkey-coefficients-encoding.ts';
import {
  type ByteSource,
  decodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  readZkeyTable,
  type ZkeyForm,
  ZkeyFormatError,
  zkeyHeaderBytes,
  zkeySection,
} from './zkey-format.ts';

/** Bytes copied at a time. */
const chunkBytes = 1 << 20;

/**
 * The bytes of the same key in the requested form, in pieces. Sections keep their order, and a conversion back gives the same
 * file. Each piece is valid until the next one is requested.
 * @throws ZkeyFormatError
 */
export async function* convertZkey(source: ByteSource, form: ZkeyForm): AsyncGenerator<Uint8Array> {
  const table = await readZkeyTable(source);
  const header = table.sections.find(({ id }) => id === zkeySection.header);
  if (header === undefined || header.length !== zkeyHeaderBytes) {
    throw new ZkeyFormatError('The proving key has no header of a Groth16 key over BN254.');
  }
  const headerBytes = new Uint8Array(zkeyHeaderBytes);
  await source.read(header.start, headerBytes);
  const limits = decodeZkeyHeader(headerBytes);
  yield encodeZkeyStart(form, table.sections.length);
  const buffer = new Uint8Array(chunkBytes);
  for (const place of table.sections) {
    if (place.id === zkeySection.coefficients && table.form !== form) {
      const coefficients = await readZkeyCoefficients(table.form, source, place, limits);
      yield encodeZkeySectionHead(place.id, measureZkeyCoefficients(form, coefficients));
      yield* encodeZkeyCoefficients(form, coefficients);
      continue;
    }
    yield encodeZkeySectionHead(place.id, place.length);
    for (let done = 0; done < place.length; done += chunkBytes) {
      const piece = buffer.subarray(0, Math.min(chunkBytes, place.length - done));
      await source.read(place.start + done, piece);
      yield piece;
    }
  }
}
