/**
 * The witness file of circom and snarkjs, `.wtns`, over BN254. It is a file of sections (see kernels' zkey-format.ts): magic `wtns`,
 * version 2. Section 1 is u32 32, the field order r in 32 bytes, u32 number of wires. Section 2 is the wires in order, 32 bytes
 * little-endian each. Wire 0 is 1. Secret.
 *
 * @module
 */
import {
  areBelowOrder,
  type ByteSource,
  decodeInteger,
  encodeIntegers,
  encodeZkeySectionHead,
  readSections,
  type ZkeySectionPlace,
} from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { scalarFieldOrder } from '../base/field.ts';
import type { FileInput } from '../base/file-input.ts';
import { readSectionFile } from './section-file.ts';

const wireBytes = 32;
const headerBytes = 4 + wireBytes + 4;
const version = 2;
/** Magic, version, number of sections. */
const startBytes = 12;
/** Id and length of a section. */
const sectionHeadBytes = 12;

function malformed(message: string): ProverError {
  return new ProverError('witness_malformed', `${message} Compute the witness again.`);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function findSection(places: readonly ZkeySectionPlace[], id: number): ZkeySectionPlace {
  const place = places.find((candidate) => candidate.id === id);
  if (place === undefined) {
    throw malformed(`The witness file has no section ${id}.`);
  }
  return place;
}

async function readWires(
  source: ByteSource,
  maximumBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { sections } = await readSections(source, {
    name: 'witness file',
    magics: ['wtns'],
    version,
  });
  const [headerPlace, wiresPlace] = [findSection(sections, 1), findSection(sections, 2)];
  const header = new Uint8Array(Math.min(headerPlace.length, headerBytes));
  await source.read(headerPlace.start, header);
  const fieldBytes = header.length < 4 ? undefined : viewOf(header).getUint32(0, true);
  if (
    fieldBytes !== wireBytes ||
    headerPlace.length !== headerBytes ||
    decodeInteger(header.subarray(4), 0) !== scalarFieldOrder
  ) {
    throw new ProverError(
      'witness_malformed',
      'The witness file is not over the field of BN254. Compile the circuit with circom --prime bn128.',
    );
  }
  const count = viewOf(header).getUint32(4 + wireBytes, true);
  if (wiresPlace.length !== wireBytes * count) {
    throw malformed(
      `The witness file declares ${count} wires, and its section 2 has ${wiresPlace.length} bytes instead of ${wireBytes * count}.`,
    );
  }
  if (wiresPlace.length > maximumBytes) {
    throw new ProverError(
      'memory_budget_exceeded',
      `A witness of ${count} wires needs more memory than the prover may use. Raise memoryBudgetBytes.`,
    );
  }
  const wires = new Uint8Array(wiresPlace.length);
  try {
    await source.read(wiresPlace.start, wires);
    if (!areBelowOrder('scalar', wires)) {
      throw malformed('A wire in the witness file is not below the field order.');
    }
    if (count === 0 || decodeInteger(wires, 0) !== 1n) {
      throw malformed('Wire 0 in the witness file is not 1.');
    }
    return wires;
  } catch (error) {
    wires.fill(0);
    throw error;
  }
}

/**
 * Reads and checks a witness file. Whether the witness satisfies a circuit is not checked here.
 * @param maximumBytes - limit of the witness, and of a file that is not read piece by piece
 * @returns all wires, 32 bytes little-endian each, below r. Secret; the caller wipes it
 * @throws ProverError `witness_malformed`, `memory_budget_exceeded`, `artifact_unreadable`; the signal's reason
 */
export async function readWitnessFile(
  file: FileInput,
  {
    maximumBytes,
    signal,
  }: { readonly maximumBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  return await readSectionFile(
    file,
    { role: 'witness', malformed: 'witness_malformed' },
    { maximumBytes, signal },
    async (source) => await readWires(source, maximumBytes),
  );
}

/**
 * @param wires - 32 bytes little-endian each, below r. Secret
 * @returns the bytes of the file. Secret; the caller wipes them
 */
export function encodeWitnessFile(wires: Uint8Array): Uint8Array<ArrayBuffer> {
  const wiresHead = startBytes + sectionHeadBytes + headerBytes;
  const bytes = new Uint8Array(wiresHead + sectionHeadBytes + wires.length);
  const view = viewOf(bytes);
  bytes.set(new TextEncoder().encode('wtns'));
  view.setUint32(4, version, true);
  view.setUint32(8, 2, true);
  bytes.set(encodeZkeySectionHead(1, headerBytes), startBytes);
  const header = startBytes + sectionHeadBytes;
  view.setUint32(header, wireBytes, true);
  encodeIntegers([scalarFieldOrder], bytes.subarray(header + 4, header + 4 + wireBytes));
  view.setUint32(header + 4 + wireBytes, wires.length / wireBytes, true);
  bytes.set(encodeZkeySectionHead(2, wires.length), wiresHead);
  bytes.set(wires, wiresHead + sectionHeadBytes);
  return bytes;
}
