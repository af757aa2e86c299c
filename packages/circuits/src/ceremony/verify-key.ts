/**
 * Checks a key in full against its circuit and its powers of tau (protocol §9): it is the initial key that follows from both, with
 * delta multiplied by what the recorded contributions say, and nothing else.
 *
 * The powers are checked first (`verify-powers.ts`). Then the initial key is computed anew. Sections that no contribution touches must be equal byte for byte. The private wires' and the
 * quotient's points must all have been divided by the same delta: with random 128-bit weights, the sum of the key's points times
 * delta must be the sum of the initial points, by a pairing. A wrong point passes with probability 2^-128.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import { computeInitialSections, type InitialKeyOptions } from './initial-key.ts';
import { readCircuit } from './initialise.ts';
import {
  encodeKeyHeader,
  type KeyFile,
  type KeyHeader,
  keySections,
  openKeyFile,
} from './key-file.ts';
import type { PointArithmetic } from './point-arithmetic.ts';
import {
  asBuffer,
  decodeG1,
  decodeG2,
  encodeG1,
  findInvalidPoint,
  type G1Point,
  pointBytes,
} from './points.ts';
import { openPowersOfTau } from './powers-of-tau.ts';
import type { SectionContents } from './section-writer.ts';
import { type ContributionRecord, computeContributionHash, readRecord } from './transcript.ts';
import {
  findContributionProblems,
  haveSameRatio,
  isSoundG1,
  isSoundG2,
  type KeyProblem,
} from './verify-contributions.ts';
import { findPowersProblems } from './verify-powers.ts';

export type VerifiedContribution = {
  readonly name: string | undefined;
  readonly type: 'secret' | 'beacon';
  /** 64 bytes, as the contributor published it. */
  readonly hash: Uint8Array;
};

export type KeyVerdict = {
  /** True if and only if there is no problem. */
  readonly isValid: boolean;
  readonly problems: readonly KeyProblem[];
  readonly circuitHash: Uint8Array;
  readonly contributions: readonly VerifiedContribution[];
};

export type VerifyOptions = InitialKeyOptions & { readonly arithmetic: PointArithmetic };

const sectionProblems: Readonly<Record<number, KeyProblem>> = {
  [keySections.publicWires]: {
    code: 'public_points_mismatch',
    message: "Section 3 (public inputs' points) differs from what circuit and powers of tau give.",
  },
  [keySections.coefficients]: {
    code: 'coefficients_mismatch',
    message: 'Section 4 (coefficients) differs from the circuit.',
  },
  [keySections.a]: {
    code: 'a_points_mismatch',
    message: 'Section 5 (A) differs from what circuit and powers of tau give.',
  },
  [keySections.b1]: {
    code: 'b1_points_mismatch',
    message: 'Section 6 (B in G1) differs from what circuit and powers of tau give.',
  },
  [keySections.b2]: {
    code: 'b2_points_mismatch',
    message: 'Section 7 (B in G2) differs from what circuit and powers of tau give.',
  },
  [keySections.privateWires]: {
    code: 'private_points_mismatch',
    message: "Section 8 (private wires' points) is not the initial one divided by delta.",
  },
  [keySections.quotient]: {
    code: 'quotient_points_mismatch',
    message: "Section 9 (quotient's points) is not the initial one divided by delta.",
  },
};

const WEIGHT_BYTES = 16;

/** 32-byte scalars of which the lower half is random. */
const createWeights = (count: number): Buffer => {
  const weights = Buffer.alloc(32 * count);
  const random = randomBytes(WEIGHT_BYTES * count);
  for (let i = 0; i < count; i++) {
    random.copy(weights, 32 * i, WEIGHT_BYTES * i, WEIGHT_BYTES * (i + 1));
  }
  return weights;
};

/** Compares a section that no contribution touches. */
const isEqualSection = async ({ file }: KeyFile, section: SectionContents): Promise<boolean> => {
  let isEqual = file.sizeOf(section.id) === section.length;
  let position = 0;
  for await (const chunk of section.chunks) {
    isEqual &&= (await file.read(section.id, position, chunk.length)).equals(chunk);
    position += chunk.length;
  }
  return isEqual;
};

/** Is the section the initial one divided by delta? */
const isDividedSection = async (
  { file, header }: KeyFile,
  section: SectionContents,
  { arithmetic, signal }: VerifyOptions,
): Promise<boolean> => {
  let [initial, actual] = [bn254.G1.Point.ZERO, bn254.G1.Point.ZERO];
  let isSound = true;
  let position = 0;
  for await (const chunk of section.chunks) {
    const points = await file.read(section.id, position, chunk.length);
    position += chunk.length;
    isSound &&= findInvalidPoint('g1', points, 'allowed') === undefined;
    if (isSound && chunk.length > 0) {
      const weights = createWeights(chunk.length / pointBytes.g1);
      const sum = async (bytes: Uint8Array): Promise<G1Point> =>
        decodeG1(await arithmetic.computeMsm('g1', bytes, weights, { signal }));
      initial = initial.add(await sum(chunk));
      actual = actual.add(await sum(points));
    }
  }
  if (!isSound || initial.is0() || actual.is0()) {
    return isSound && initial.is0() && actual.is0();
  }
  return haveSameRatio(actual, initial, bn254.G2.Point.BASE, decodeG2(header.delta2));
};

const findHeaderProblems = (header: KeyHeader, expected: Buffer): KeyProblem[] => {
  const withDeltas = asBuffer(encodeKeyHeader(header));
  const deltas = pointBytes.g1 + pointBytes.g2;
  const [counts, points] = [84, expected.length - deltas];
  if (!withDeltas.subarray(0, counts).equals(expected.subarray(0, counts))) {
    return [
      {
        code: 'circuit_mismatch',
        message: 'The key is for another circuit: wires, public signals or rows differ.',
      },
    ];
  }
  return withDeltas.subarray(counts, points).equals(expected.subarray(counts, points))
    ? []
    : [
        {
          code: 'powers_mismatch',
          message:
            'Alpha, beta or gamma differ: the key was begun from another powers-of-tau file, or changed.',
        },
      ];
};

const findDeltaProblems = (header: KeyHeader, record: ContributionRecord): KeyProblem[] => {
  const { delta1, delta2 } = header;
  if (!isSoundG1(delta1) || !isSoundG2(delta2)) {
    return [{ code: 'delta_invalid', message: 'Delta is not a point of its group.' }];
  }
  const problems: KeyProblem[] = [];
  const last = record.contributions.at(-1)?.deltaAfter ?? encodeG1(bn254.G1.Point.BASE);
  if (Buffer.compare(last, delta1) !== 0) {
    problems.push({
      code: 'delta_mismatch',
      message: "The key's delta is not the one its last contribution left.",
    });
  }
  const [one1, one2] = [bn254.G1.Point.BASE, bn254.G2.Point.BASE];
  if (!haveSameRatio(one1, decodeG1(delta1), one2, decodeG2(delta2))) {
    problems.push({
      code: 'delta_pair_mismatch',
      message: 'Delta in G1 and delta in G2 are different multiples of their generators.',
    });
  }
  return problems;
};

const collect = async (section: SectionContents): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const chunk of section.chunks) {
    parts.push(chunk);
  }
  return Buffer.concat(parts);
};

const findSectionProblems = async (
  key: KeyFile,
  record: ContributionRecord,
  sections: AsyncIterable<SectionContents>,
  options: VerifyOptions,
): Promise<KeyProblem[]> => {
  const problems: KeyProblem[] = [];
  const canDivide = isSoundG2(key.header.delta2);
  for await (const section of sections) {
    const { id } = section;
    if (id === keySections.header) {
      const found = findHeaderProblems(key.header, await collect(section));
      if (found.length > 0) {
        // Nothing else can agree with another circuit or other powers of tau.
        return [...problems, ...found];
      }
    } else if (id === keySections.contributions) {
      if ((await collect(section)).compare(record.circuitHash, 0, 64, 0, 64) !== 0) {
        problems.push({
          code: 'circuit_hash_mismatch',
          message:
            'The circuit hash in the key is not that of this circuit and these powers of tau.',
        });
      }
    } else if (id === keySections.protocol) {
      await collect(section);
    } else {
      const isDivided = id === keySections.privateWires || id === keySections.quotient;
      if (isDivided && !canDivide) {
        // Read to its end all the same: the circuit hash covers it. Delta itself was reported before.
        await collect(section);
        continue;
      }
      const agrees = isDivided
        ? await isDividedSection(key, section, options)
        : await isEqualSection(key, section);
      const problem = sectionProblems[id];
      if (!agrees && problem !== undefined) {
        problems.push(problem);
      }
    }
  }
  return problems;
};

/**
 * Verifies a key. Says everything that is wrong with it; a key without any contribution is refused like every other.
 * @throws PoolError `file_missing`, `zkey_malformed`, `r1cs_malformed`, `ptau_malformed`, `ptau_not_prepared`, `ptau_too_small` if a
 *   file cannot be read at all
 */
export const verifyKey = async (
  paths: { readonly r1cs: string; readonly ptau: string; readonly zkey: string },
  options: VerifyOptions,
): Promise<KeyVerdict> => {
  const key = await openKeyFile(paths.zkey);
  try {
    const record = await readRecord(key.file);
    const r1cs = await readCircuit(paths.r1cs);
    const powers = await openPowersOfTau(paths.ptau);
    try {
      const problems: KeyProblem[] = [];
      if (record.contributions.length === 0) {
        problems.push({
          code: 'no_contribution',
          message: 'Nobody contributed to this key: anybody can forge proofs under it.',
        });
      }
      problems.push(...(await findContributionProblems(record, options.signal)));
      problems.push(...findDeltaProblems(key.header, record));
      const parts = { r1cs, powers, arithmetic: options.arithmetic };
      const sections = computeInitialSections(parts, options);
      const exponent = Math.log2(key.header.domainSize);
      if (exponent <= powers.power) {
        // A larger key is for another circuit, or the file is too small: what follows says which.
        const { arithmetic, signal } = options;
        problems.push(...(await findPowersProblems(powers, exponent, arithmetic, { signal })));
      }
      problems.push(...(await findSectionProblems(key, record, sections, options)));
      return {
        isValid: problems.length === 0,
        problems,
        circuitHash: record.circuitHash,
        contributions: record.contributions.map((contribution) => ({
          name: contribution.name,
          type: contribution.type,
          hash: computeContributionHash(contribution),
        })),
      };
    } finally {
      await powers.close();
    }
  } finally {
    await key.file.close();
  }
};
