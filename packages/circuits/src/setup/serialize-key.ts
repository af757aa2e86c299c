/**
 * The parts of a proving key as the bytes of its file, in either form.
 *
 * @module
 */
import {
  encodeZkeyCoefficients,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  measureZkeyCoefficients,
  type ZkeyForm,
  zkeySection,
} from '@pool/kernels';
import type { KeyPart } from './proving-key.ts';

function* encodeSection(id: number, ...parts: Uint8Array[]): Generator<Uint8Array> {
  yield encodeZkeySectionHead(
    id,
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  yield* parts;
}

/** The bytes of one part, piece by piece; the header includes the beginning of the file. */
export function* serializeKeyPart(part: KeyPart, form: ZkeyForm): Generator<Uint8Array> {
  switch (part.type) {
    case 'header':
      yield encodeZkeyStart(form, 10);
      yield* encodeSection(zkeySection.protocol, Uint8Array.of(1, 0, 0, 0));
      yield* encodeSection(zkeySection.header, encodeZkeyHeader(part.header));
      return;
    case 'coefficients':
      if (form === 'standard') {
        const length = measureZkeyCoefficients(form, part.coefficients);
        yield encodeZkeySectionHead(zkeySection.coefficients, length);
        yield* encodeZkeyCoefficients(form, part.coefficients);
      } else {
        // Small enough to be kept in memory. Measuring it would cost as much as encoding it.
        const pieces = [...encodeZkeyCoefficients(form, part.coefficients)];
        yield* encodeSection(zkeySection.coefficients, ...pieces);
      }
      return;
    case 'points':
      yield* encodeSection(zkeySection[part.section], part.points);
      return;
    case 'contributions':
      yield* encodeSection(zkeySection.contributions, part.circuitHash, new Uint8Array(4));
      return;
  }
}
