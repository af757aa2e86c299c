/**
 * The record of contributions in a key (section 10), as snarkjs reads and writes it, and the hashes that chain the contributions.
 *
 * Each contributor multiplies delta by a factor x and proves that it knows x: it chooses a point s, hashes s and x·s in G1 with
 * everything before into a point p of G2, and publishes x·p (Bowe, Gabizon, Miers: Scalable multi-party computation for zk-SNARK
 * parameters in the random beacon model, section 4). All hashes are BLAKE2b with 64 bytes.
 *
 * @module
 */
import { blake2b } from '@noble/hashes/blake2.js';
import { zkeySection } from '@pool/kernels';
import { asBuffer, encodeForTranscript } from '../points/points.ts';
import { malformedFile, type SectionFile, type SectionFileKind } from './section-file.ts';

const hashBytes = 64;
const mostContributions = 10_000;
const mostRecordBytes = 64 << 20;
const nameBytes = 64;
const mostBeaconBytes = 255;

export const contributionTypes = ['secret', 'beacon'] as const;
const tags = { name: 1, exponent: 2, beacon: 3 } as const;

/** The source of a beacon's factor. Public. */
export type Beacon = {
  /** The announced value, 1 to 255 bytes. */
  readonly value: Uint8Array;
  /** It is hashed 2^exponent times. */
  readonly exponent: number;
};

/** What a contribution states about itself. */
export type ContributionLabel = {
  /** Nothing proves that it is true. */
  readonly name: string | undefined;
  readonly beacon: Beacon | undefined;
};

/** One contribution. Points are in the encoding of files. All of it is public. */
export type Contribution = ContributionLabel & {
  /** delta in G1 after this contribution */
  readonly deltaAfter: Uint8Array;
  /** s and x·s */
  readonly base: Uint8Array;
  readonly multiplied: Uint8Array;
  /** x·p */
  readonly proof: Uint8Array;
  /** 64 bytes: hash of everything before, s and x·s; it determines p */
  readonly transcript: Uint8Array;
  readonly type: (typeof contributionTypes)[number];
};

export type ContributionRecord = {
  /** 64 bytes: identifies circuit and powers of tau, before any contribution. */
  readonly circuitHash: Uint8Array;
  readonly contributions: readonly Contribution[];
};

/** The bytes that one contribution adds to the transcript of the next. */
function hashedBytes(contribution: Contribution): Buffer {
  return Buffer.concat([
    encodeForTranscript('g1', contribution.deltaAfter),
    encodeForTranscript('g1', contribution.base),
    encodeForTranscript('g1', contribution.multiplied),
    encodeForTranscript('g2', contribution.proof),
    contribution.transcript,
  ]);
}

/** The hash that a contributor publishes. 64 bytes. */
export function computeContributionHash(contribution: Contribution): Uint8Array {
  return blake2b(hashedBytes(contribution));
}

/** The transcript that a contribution with points s and x·s must contain after the earlier ones. 64 bytes. */
export function computeTranscript(
  circuitHash: Uint8Array,
  earlier: readonly Contribution[],
  { base, multiplied }: Pick<Contribution, 'base' | 'multiplied'>,
): Uint8Array {
  const hasher = blake2b.create().update(circuitHash);
  for (const contribution of earlier) {
    hasher.update(hashedBytes(contribution));
  }
  return hasher
    .update(encodeForTranscript('g1', base))
    .update(encodeForTranscript('g1', multiplied))
    .digest();
}

function encodeParameters({ name, beacon }: Contribution): Buffer {
  const parts: Uint8Array[] = [];
  if (name !== undefined) {
    const text = Buffer.from(name, 'utf8').subarray(0, mostBeaconBytes);
    parts.push(Buffer.from([tags.name, text.length]), text);
  }
  if (beacon !== undefined) {
    parts.push(Buffer.from([tags.exponent, beacon.exponent]));
    parts.push(Buffer.from([tags.beacon, beacon.value.length]), beacon.value);
  }
  return Buffer.concat(parts);
}

/** Section 10, from its circuit hash and contributions. */
export function encodeRecord({ circuitHash, contributions }: ContributionRecord): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(contributions.length);
  const parts: Uint8Array[] = [circuitHash, count];
  for (const contribution of contributions) {
    const parameters = encodeParameters(contribution);
    const tail = Buffer.alloc(8);
    tail.writeUInt32LE(contributionTypes.indexOf(contribution.type), 0);
    tail.writeUInt32LE(parameters.length, 4);
    const { deltaAfter, base, multiplied, proof, transcript } = contribution;
    parts.push(deltaAfter, base, multiplied, proof, transcript, tail, parameters);
  }
  return Buffer.concat(parts);
}

/**
 * The parameters at the end of a contribution, in a key and in a powers-of-tau file.
 * @throws PoolError `zkey_malformed`, `artifact_malformed`
 */
function parseParameters(kind: SectionFileKind, bytes: Buffer): ContributionLabel {
  let name: string | undefined;
  let exponent: number | undefined;
  let value: Uint8Array | undefined;
  let position = 0;
  let last = 0;
  const take = (length: number): Buffer => {
    if (position + length > bytes.length) {
      throw malformedFile(kind, 'the parameters of a contribution are cut off');
    }
    position += length;
    return bytes.subarray(position - length, position);
  };
  while (position < bytes.length) {
    const [tag = 0] = take(1);
    if (tag <= last) {
      throw malformedFile(kind, 'the parameters of a contribution are out of order');
    }
    last = tag;
    const [length = 0] = take(1);
    if (tag === tags.name) {
      name = take(length).toString('utf8');
    } else if (tag === tags.exponent) {
      exponent = length;
    } else if (tag === tags.beacon) {
      value = Uint8Array.from(take(length));
    } else {
      throw malformedFile(kind, 'a contribution has a parameter of an unknown kind');
    }
  }
  if (exponent === undefined && value === undefined) {
    return { name, beacon: undefined };
  }
  if (exponent === undefined || value === undefined) {
    throw malformedFile(kind, 'a contribution has only one of the two parameters of a beacon');
  }
  return { name, beacon: { value, exponent } };
}

/** Reads a record of contributions part by part. @throws PoolError `zkey_malformed`, `artifact_malformed` */
export function createRecordReader(kind: SectionFileKind, bytes: Buffer) {
  let position = 0;
  const take = (length: number): Uint8Array => {
    if (position + length > bytes.length) {
      throw malformedFile(kind, 'its record of contributions is cut off');
    }
    position += length;
    return Uint8Array.from(bytes.subarray(position - length, position));
  };
  const takeCount = (): number => asBuffer(take(4)).readUInt32LE(0);
  return {
    take,
    /** All contributions to the record's end. @param leastBytes of one of them */
    takeList: <T>(leastBytes: number, takeOne: () => T): T[] => {
      const count = takeCount();
      if (count > mostContributions || count * leastBytes > bytes.length) {
        throw malformedFile(kind, 'it declares too many contributions');
      }
      const list = Array.from({ length: count }, takeOne);
      if (position !== bytes.length) {
        throw malformedFile(kind, 'there are bytes after its last contribution');
      }
      return list;
    },
    /** Type, name and beacon of a contribution, which end it. */
    takeLabel: () => {
      const type = contributionTypes[takeCount()];
      const label = parseParameters(kind, asBuffer(take(takeCount())));
      if (type === undefined || (type === 'beacon') !== (label.beacon !== undefined)) {
        throw malformedFile(kind, 'a contribution is of an unknown kind');
      }
      return { type, ...label };
    },
  };
}

/** Reads section 10 of an open key. @throws PoolError `zkey_malformed` */
export async function readRecord(file: SectionFile): Promise<ContributionRecord> {
  const size = file.sizeOf(zkeySection.contributions);
  if (size > mostRecordBytes) {
    throw malformedFile('zkey', 'its record of contributions is too large');
  }
  const bytes = await file.read(zkeySection.contributions, 0, size);
  const { take, takeList, takeLabel } = createRecordReader('zkey', bytes);
  const circuitHash = take(hashBytes);
  const contributions = takeList(0, () => ({
    deltaAfter: take(64),
    base: take(64),
    multiplied: take(64),
    proof: take(128),
    transcript: take(hashBytes),
    ...takeLabel(),
  }));
  return { circuitHash, contributions };
}

/** True if the text can be a contribution's name: 1 to 64 bytes, no control characters. */
export function isContributionName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= nameBytes && !/\p{C}/u.test(name);
}
