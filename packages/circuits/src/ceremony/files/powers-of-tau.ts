/**
 * Reader of a prepared powers-of-tau file (`.ptau`, phase 1 with the Lagrange bases of phase 2), over BN254.
 *
 * Sections 2 to 6 contain tau^i in G1 and G2, alpha·tau^i, beta·tau^i, and beta in G2; section 7 contains the contributions.
 * Sections 12 to 15 contain the Lagrange bases at tau of all domains 2^0, 2^1, …, concatenated: in G1 (up to twice the largest
 * domain), in G2, times alpha, times beta.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  baseFieldOrder,
  decodeInteger,
  findInvalidPoint,
  type Group,
  zkeyPointBytes,
} from '@pool/kernels';
import { asBuffer } from '../points/points.ts';
import { malformedFile, openSectionFile, type SectionFile } from './section-file.ts';
import {
  type ContributionLabel,
  type contributionTypes,
  createRecordReader,
} from './transcript.ts';

// The record of contributions in a powers-of-tau file (section 7), as snarkjs writes it.

/** Proof of knowledge of one contribution's factor x: s and x·s in G1, and x·p in G2 for a p that both determine. */
export type PowersProof = {
  readonly base: Uint8Array;
  readonly multiplied: Uint8Array;
  readonly proof: Uint8Array;
};

/** One contribution to phase 1. Points are in the encoding of files. All of it is public. */
export type PowersContribution = ContributionLabel & {
  /** tau, alpha and beta after this contribution */
  readonly tau1: Uint8Array;
  readonly tau2: Uint8Array;
  readonly alpha1: Uint8Array;
  readonly beta1: Uint8Array;
  readonly beta2: Uint8Array;
  /** for the factors of tau, alpha and beta, in this order */
  readonly proofs: readonly [PowersProof, PowersProof, PowersProof];
  /** 64 bytes: hash of all powers after this contribution, which determines the p of the next contribution */
  readonly challenge: Uint8Array;
  readonly type: (typeof contributionTypes)[number];
};

const [G1, G2, partialHashBytes, hashBytes] = [64, 128, 216, 64];
const fixedBytes = 3 * G1 + 2 * G2 + 6 * G1 + 3 * G2 + partialHashBytes + hashBytes + 8;

/**
 * Parses section 7. Only the form is checked.
 * @throws PoolError `artifact_malformed`
 */
function parsePowersRecord(section: Uint8Array): PowersContribution[] {
  const { take, takeList, takeLabel } = createRecordReader('ptau', asBuffer(section));
  return takeList(fixedBytes, () => {
    const [tau1, tau2, alpha1, beta1, beta2] = [take(G1), take(G2), take(G1), take(G1), take(G2)];
    const takeBase = () => ({ base: take(G1), multiplied: take(G1) });
    const [tau, alpha, beta] = [takeBase(), takeBase(), takeBase()];
    const withProof = (base: ReturnType<typeof takeBase>) => ({ ...base, proof: take(G2) });
    const proofs = [withProof(tau), withProof(alpha), withProof(beta)] as const;
    take(partialHashBytes);
    const challenge = take(hashBytes);
    return { tau1, tau2, alpha1, beta1, beta2, proofs, challenge, ...takeLabel() };
  });
}

/** Numbers of the sections, by contents. */
const powersSections = {
  header: 1,
  tau1: 2,
  tau2: 3,
  alphaTau1: 4,
  betaTau1: 5,
  beta2: 6,
  contributions: 7,
  lagrange1: 12,
  lagrange2: 13,
  alphaLagrange1: 14,
  betaLagrange1: 15,
} as const;

export type PowersSection = Exclude<keyof typeof powersSections, 'header' | 'contributions'>;

export type PowersOfTau = {
  /** Circuits of up to 2^power rows. */
  readonly power: number;
  /** The power of the ceremony. A file that was truncated from a larger one has the larger power. */
  readonly ceremonyPower: number;
  /** The contributions. Empty if the file has no record of them. */
  readonly readRecord: () => Promise<PowersContribution[]>;
  /** Points start … start+count-1 of a section, each checked to lie on the curve and not at infinity. */
  readonly readPoints: (section: PowersSection, start: number, count: number) => Promise<Buffer>;
  /** The same of the Lagrange basis over the domain of 2^exponent. */
  readonly readBasis: (
    section: PowersSection,
    exponent: number,
    start: number,
    count: number,
  ) => Promise<Buffer>;
  readonly close: () => Promise<void>;
};

const mostPower = 28;
const mostRecordBytes = 64 << 20;
const leastHeaderBytes = 44;

/** Which group the points of a section belong to. */
function groupOfPowers(section: PowersSection): Group {
  return section === 'tau2' || section === 'beta2' || section === 'lagrange2' ? 'g2' : 'g1';
}

async function readHeader(
  file: SectionFile,
): Promise<{ readonly power: number; readonly ceremonyPower: number }> {
  if (file.sizeOf(powersSections.header) < leastHeaderBytes) {
    throw malformedFile('ptau', 'its header is too short');
  }
  const header = await file.read(powersSections.header, 0, leastHeaderBytes);
  if (header.readUInt32LE(0) !== 32 || decodeInteger(header.subarray(4), 0) !== baseFieldOrder) {
    throw malformedFile('ptau', 'it is not over BN254');
  }
  const power = header.readUInt32LE(36);
  if (power < 1 || power > mostPower) {
    throw malformedFile('ptau', 'its header contains an invalid power');
  }
  return { power, ceremonyPower: header.readUInt32LE(40) };
}

async function readRecord(file: SectionFile): Promise<PowersContribution[]> {
  const id = powersSections.contributions;
  if (!file.hasSection(id)) {
    return [];
  }
  const size = file.sizeOf(id);
  if (size > mostRecordBytes) {
    throw malformedFile('ptau', 'its record of contributions is too large');
  }
  return parsePowersRecord(await file.read(id, 0, size));
}

function checkLengths(file: SectionFile, power: number): void {
  const size = 2 ** power;
  const points: Readonly<Record<PowersSection, number>> = {
    tau1: 2 * size - 1,
    tau2: size,
    alphaTau1: size,
    betaTau1: size,
    beta2: 1,
    lagrange1: 4 * size - 1,
    lagrange2: 2 * size - 1,
    alphaLagrange1: 2 * size - 1,
    betaLagrange1: 2 * size - 1,
  };
  if (!file.hasSection(powersSections.lagrange1)) {
    throw new PoolError(
      'artifact_malformed',
      'The powers-of-tau file contains no Lagrange bases. Use a file that is prepared for phase 2.',
    );
  }
  for (const section of Object.keys(points) as PowersSection[]) {
    const id = powersSections[section];
    if (file.sizeOf(id) !== points[section] * zkeyPointBytes[groupOfPowers(section)]) {
      throw malformedFile('ptau', `section ${id} has another length than its power requires`);
    }
  }
}

/**
 * Opens a prepared file and checks its form. The caller closes it.
 * @throws PoolError `invalid_option`, `artifact_malformed`
 */
export async function openPowersOfTau(path: string): Promise<PowersOfTau> {
  const file = await openSectionFile(path, 'ptau');
  try {
    const { power, ceremonyPower } = await readHeader(file);
    checkLengths(file, power);
    const readPoints: PowersOfTau['readPoints'] = async (section, start, count) => {
      const group = groupOfPowers(section);
      const size = zkeyPointBytes[group];
      const points = await file.read(powersSections[section], start * size, count * size);
      const wrong = findInvalidPoint(group, points, 'refused');
      if (wrong !== undefined) {
        throw malformedFile(
          'ptau',
          `point ${start + wrong} of section ${powersSections[section]} is not on the curve`,
        );
      }
      return points;
    };
    return {
      power,
      ceremonyPower,
      readRecord: () => readRecord(file),
      readPoints,
      readBasis: (section, exponent, start, count) =>
        readPoints(section, 2 ** exponent - 1 + start, count),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
