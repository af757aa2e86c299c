/**
 * A contribution to a key: multiplies delta by a factor x that only the contributor knew (or that a public beacon determines),
 * divides the points of the private wires and of the quotient by x, and adds a proof of knowledge to the record (protocol §9).
 *
 * Secrecy: the ceremony is secure if the x of at least one contributor is destroyed. x exists only in this process and is never
 * written or logged, and the bytes it was made of are wiped. BigInts cannot be wiped. A careful contributor therefore ends the
 * process, as the command does, and destroys the machine.
 *
 * Attack prevented here: a coordinator who supplies points off the curve, or of small order, could derive x from the results.
 * Every point is therefore checked before it is multiplied by x.
 *
 * @module
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import { PoolError } from '@pool/core';
import {
  encodeIntegers,
  encodeZkeyHeader,
  findInvalidPoint,
  zkeyPointBytes,
  zkeySection,
} from '@pool/kernels';
import { type KeyFile, openKeyFile } from '../files/key-file.ts';
import {
  beaconRounds,
  createKeyStream,
  deriveBeaconSeed,
  deriveChallenge,
  type KeyStream,
} from '../files/key-stream.ts';
import { chunksOf, malformedFile } from '../files/section-file.ts';
import { type WriteOptions, writeKeyAtomically } from '../files/section-writer.ts';
import {
  type Beacon,
  type Contribution,
  type ContributionLabel,
  computeContributionHash,
  computeTranscript,
  encodeRecord,
  isContributionName,
  readRecord,
} from '../files/transcript.ts';
import type { BulkOptions, PointArithmetic } from '../points/point-sums.ts';
import { decodeG1, decodeG2, encodeG1, encodeG2, isSoundG1, isSoundG2 } from '../points/points.ts';
import { requireOpenCeremony, requireSecretContribution } from './contribution-rules.ts';

export type ContributeOptions = BulkOptions &
  WriteOptions & {
    readonly arithmetic: PointArithmetic;
    /** A label for the record, 1 to 64 bytes. Public. Nothing proves that it is true. */
    readonly name?: string | undefined;
    /** fraction in 0..1 */
    readonly onProgress?: ((fraction: number) => void) | undefined;
  };

export type ContributionResult = {
  /** 64 bytes; the contributor publishes it. */
  readonly contributionHash: Uint8Array;
  /** 1 for the first contribution. */
  readonly number: number;
};

const pointsAtOnce = 1 << 14;
const bytesAtOnce = 1 << 20;
const seedBytes = 32;
const sections = 10;

function checkName(name: string | undefined): void {
  if (name !== undefined && !isContributionName(name)) {
    throw new PoolError(
      'invalid_option',
      "A contribution's name must have 1 to 64 bytes and no control characters.",
    );
  }
}

/** Checks the points that the factor multiplies and that are not in a section. */
function checkDelta({ header }: KeyFile): void {
  if (!isSoundG1(header.delta1) || !isSoundG2(header.delta2)) {
    throw malformedFile('zkey', 'delta is not a point of its group');
  }
}

async function* copySection({ file }: KeyFile, id: number): AsyncGenerator<Buffer> {
  for (const { start, count } of chunksOf(file.sizeOf(id), bytesAtOnce)) {
    yield await file.read(id, start, count);
  }
}

async function* multiplySection(
  { file }: KeyFile,
  id: number,
  factor: Uint8Array,
  arithmetic: PointArithmetic,
  options: BulkOptions & { readonly onPoints: (count: number) => void },
): AsyncGenerator<Uint8Array> {
  const size = zkeyPointBytes.g1;
  for (const { start, count } of chunksOf(file.sizeOf(id) / size, pointsAtOnce)) {
    options.signal?.throwIfAborted();
    const points = await file.read(id, start * size, count * size);
    const wrong = findInvalidPoint('g1', points, 'allowed');
    if (wrong !== undefined) {
      throw malformedFile('zkey', `point ${start + wrong} of section ${id} is not on the curve`);
    }
    yield await arithmetic.multiplyPoints('g1', points, factor, options);
    options.onPoints(count);
  }
}

/** The contribution over a stream of values, after the earlier contributions. */
function createContribution(
  key: KeyFile,
  record: Awaited<ReturnType<typeof readRecord>>,
  stream: KeyStream,
  label: ContributionLabel,
): { readonly contribution: Contribution; readonly factor: bigint } {
  const factor = stream.sampleScalar();
  const basePoint = stream.sampleG1();
  const base = encodeG1(basePoint);
  const multiplied = encodeG1(basePoint.multiply(factor));
  const transcript = computeTranscript(record.circuitHash, record.contributions, {
    base,
    multiplied,
  });
  const contribution: Contribution = {
    deltaAfter: encodeG1(decodeG1(key.header.delta1).multiply(factor)),
    base,
    multiplied,
    proof: encodeG2(deriveChallenge(transcript).multiply(factor)),
    transcript,
    type: label.beacon === undefined ? 'secret' : 'beacon',
    ...label,
  };
  return { contribution, factor };
}

async function applySeed(
  paths: { readonly in: string; readonly out: string },
  seed: Uint8Array,
  beacon: Beacon | undefined,
  options: ContributeOptions,
): Promise<ContributionResult> {
  const key = await openKeyFile(paths.in);
  try {
    checkDelta(key);
    const record = await readRecord(key.file);
    const last = record.contributions.at(-1);
    const expected = last?.deltaAfter ?? encodeG1(bn254.G1.Point.BASE);
    if (!Buffer.from(key.header.delta1).equals(expected)) {
      throw malformedFile('zkey', 'its delta is not the delta of its last contribution');
    }
    requireOpenCeremony(record.contributions);
    if (beacon !== undefined) {
      requireSecretContribution(record.contributions);
    }
    const label = { name: options.name, beacon };
    const stream = createKeyStream(seed);
    seed.fill(0);
    const { contribution, factor } = createContribution(key, record, stream, label);
    const inverse = encodeIntegers([bn254.fields.Fr.inv(factor)]);

    const { header } = key;
    const total = key.header.wires + header.domainSize;
    let done = 0;
    const bulk = {
      signal: options.signal,
      onPoints: (count: number) => {
        done += count;
        options.onProgress?.(Math.min(1, done / total));
      },
    };
    const newHeader = encodeZkeyHeader({
      ...header,
      delta1: contribution.deltaAfter,
      delta2: encodeG2(decodeG2(header.delta2).multiply(factor)),
    });
    const contributions = [...record.contributions, contribution];
    const newRecord = encodeRecord({ circuitHash: record.circuitHash, contributions });
    const contents = (id: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array> => {
      if (id === zkeySection.header) {
        return [newHeader];
      }
      if (id === zkeySection.contributions) {
        return [newRecord];
      }
      return id === zkeySection.c || id === zkeySection.h
        ? multiplySection(key, id, inverse, options.arithmetic, bulk)
        : copySection(key, id);
    };
    await writeKeyAtomically(paths.out, options, sections, async (append) => {
      for (let id = 1; id <= sections; id++) {
        const length = id === zkeySection.contributions ? newRecord.length : key.file.sizeOf(id);
        await append({ id, length, chunks: contents(id) });
      }
    });
    inverse.fill(0);
    return {
      contributionHash: computeContributionHash(contribution),
      number: contributions.length,
    };
  } finally {
    seed.fill(0);
    await key.file.close();
  }
}

/**
 * Adds a contribution with a fresh secret factor.
 * @param entropy secret bytes of the contributor, hashed together with 64 bytes of the system's randomness. The factor is
 *   unpredictable if either of the two is
 * @throws PoolError `invalid_option`, `zkey_malformed`, `ceremony_invalid`
 */
export async function contributeToKey(
  paths: { readonly in: string; readonly out: string },
  options: ContributeOptions & { readonly entropy?: Uint8Array | undefined },
): Promise<ContributionResult> {
  checkName(options.name);
  const random = randomBytes(64);
  const salt = createHash('sha512')
    .update(options.entropy ?? new Uint8Array(0))
    .digest();
  const seed = new Uint8Array(
    hkdfSync('sha512', random, salt, 'pool/v1/ceremony-contribution', seedBytes),
  );
  random.fill(0);
  salt.fill(0);
  return await applySeed(paths, seed, undefined, options);
}

/**
 * Ends a ceremony with a factor that a public value determines which nobody could know before (a beacon).
 * @throws PoolError like `contributeToKey`; `ceremony_invalid`; `no_contribution` if there is no secret contribution before
 */
export async function applyBeacon(
  paths: { readonly in: string; readonly out: string },
  beacon: Beacon,
  options: ContributeOptions,
): Promise<ContributionResult> {
  checkName(options.name);
  const { value, exponent } = beacon;
  if (value.length < 1 || value.length > 255) {
    throw new PoolError('ceremony_invalid', 'A beacon must have 1 to 255 bytes, written as hex.');
  }
  if (
    !Number.isInteger(exponent) ||
    exponent < beaconRounds.least ||
    exponent > beaconRounds.most
  ) {
    throw new PoolError(
      'ceremony_invalid',
      `--iterations must be an exponent: 2^${beaconRounds.least} to 2^${beaconRounds.most} iterations are allowed.`,
    );
  }
  const seed = await deriveBeaconSeed(value, exponent, options.signal);
  return await applySeed(paths, Uint8Array.from(seed), beacon, options);
}
