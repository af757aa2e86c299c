/**
 * Checks a witness against circom's constraint file, `.r1cs` (version 1), over BN254. Section 1 is u32 32, the field order in 32 bytes,
 * u32 numbers of wires, outputs, public and private inputs, u64 labels, u32 constraints. Section 2 is the constraints in order, each
 * three sums of terms: u32 terms, then each term's u32 wire and coefficient in 32 bytes little-endian. A constraint holds if the
 * product of its first two sums is the third.
 *
 * @module
 */
import { type ByteSource, decodeInteger, nextTurn, readSections } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { scalarFieldOrder } from '../base/field.ts';
import type { FileInput } from '../base/file-input.ts';
import { readSectionFile } from './section-file.ts';

const wordBytes = 4;
const integerBytes = 32;
const headerBytes = wordBytes + integerBytes + 4 * wordBytes + 8 + wordBytes;
const termBytes = wordBytes + integerBytes;
/** Sections 4 and 5 list the templates and uses of custom gates, which are for PLONK. */
const customGateSections = [4, 5];
/** Bytes of the file that are in memory at a time: some 20 ms of work, after which other work has its turn. */
const windowBytes = 2 ** 20;

function malformed(what: string): ProverError {
  return new ProverError('r1cs_malformed', `The constraint file ${what}. Compile it again.`);
}

type Place = { readonly start: number; readonly length: number };

async function readHeader(source: ByteSource, place: Place) {
  const header = new Uint8Array(Math.min(place.length, headerBytes));
  await source.read(place.start, header);
  const view = new DataView(header.buffer);
  if (
    header.length !== headerBytes ||
    view.getUint32(0, true) !== integerBytes ||
    decodeInteger(header.subarray(wordBytes), 0) !== scalarFieldOrder
  ) {
    throw new ProverError(
      'r1cs_malformed',
      'The constraint file is not over the field of BN254. Compile the circuit with circom --prime bn128.',
    );
  }
  return {
    wires: view.getUint32(wordBytes + integerBytes, true),
    constraints: view.getUint32(headerBytes - wordBytes, true),
  };
}

/** Reads a section forwards. Both functions give the place of the next bytes in `bytes`. */
function createReader(source: ByteSource, { start, length }: Place) {
  const bytes = new Uint8Array(Math.min(windowBytes, length));
  let position = 0;
  let end = 0;
  let left = length;
  const take = (count: number): number | undefined => {
    if (position + count > end) {
      return undefined;
    }
    position += count;
    return position - count;
  };
  return {
    bytes,
    /** Undefined if the bytes are not in memory. */
    take,
    /** Reads on, then takes. */
    refill: async (count: number): Promise<number> => {
      bytes.copyWithin(0, position, end);
      const kept = end - position;
      const added = Math.min(bytes.length - kept, left);
      await source.read(start + length - left, bytes.subarray(kept, kept + added));
      [position, end, left] = [0, kept + added, left - added];
      await nextTurn();
      const at = take(count);
      if (at === undefined) {
        throw malformed('ends within its constraints');
      }
      return at;
    },
    remaining: () => end - position + left,
  };
}

/** The number of the first constraint that does not hold, from 0; undefined if all hold. */
async function findBroken(
  source: ByteSource,
  place: Place,
  constraints: number,
  witness: Uint8Array,
): Promise<number | undefined> {
  const wires = witness.length / integerBytes;
  const { bytes, take, refill, remaining } = createReader(source, place);
  const view = new DataView(bytes.buffer);
  const addUp = async (): Promise<bigint> => {
    let sum = 0n;
    const terms = view.getUint32(take(wordBytes) ?? (await refill(wordBytes)), true);
    for (let term = 0; term < terms; term++) {
      const at = take(termBytes) ?? (await refill(termBytes));
      const wire = view.getUint32(at, true);
      if (wire >= wires) {
        throw malformed('names a wire that does not exist');
      }
      const coefficient = decodeInteger(bytes.subarray(at + wordBytes, at + termBytes), 0);
      sum += coefficient * decodeInteger(witness, wire);
    }
    return sum;
  };
  for (let constraint = 0; constraint < constraints; constraint++) {
    const [a, b, c] = [await addUp(), await addUp(), await addUp()];
    if ((a * b - c) % scalarFieldOrder !== 0n) {
      return constraint;
    }
  }
  if (remaining() > 0) {
    throw malformed('has more than the constraints that it declares');
  }
  return undefined;
}

/**
 * Says what is wrong with a witness.
 * @param file - a `.r1cs` file
 * @param witness - all wires, 32 bytes little-endian each, below r. Secret
 * @returns a sentence without values of the witness; undefined if it satisfies all constraints
 * @throws ProverError `r1cs_malformed`, `memory_budget_exceeded`, `artifact_unreadable`
 */
export async function explainRefusal(
  file: FileInput,
  witness: Uint8Array,
  maximumBytes: number,
): Promise<string | undefined> {
  return await readSectionFile(
    file,
    { role: 'constraint file', malformed: 'r1cs_malformed' },
    { maximumBytes },
    async (source) => {
      const format = { name: 'constraint file', magics: ['r1cs'], version: 1 };
      const { sections } = await readSections(source, format);
      const [header, body] = [1, 2].map((id) => sections.find((section) => section.id === id));
      if (header === undefined || body === undefined) {
        throw malformed('has no header or no constraints');
      }
      if (sections.some(({ id }) => customGateSections.includes(id))) {
        throw new ProverError(
          'r1cs_malformed',
          'The constraint file has custom gates, which Groth16 does not have. Check it with snarkjs.',
        );
      }
      const { wires, constraints } = await readHeader(source, header);
      const given = witness.length / integerBytes;
      if (given !== wires) {
        return `The witness has ${given} wires and the circuit has ${wires}.`;
      }
      const broken = await findBroken(source, body, constraints, witness);
      return broken === undefined
        ? undefined
        : `The witness does not satisfy constraint ${broken}, counted from 0.`;
    },
  );
}
