/**
 * The key before any contribution, as it follows from a circuit and a powers-of-tau file alone: gamma = delta = 1, and every
 * section in the order and with the bytes that snarkjs gives it. Anyone with both files computes the same key, so a verifier
 * compares instead of trusting the party that started the ceremony.
 *
 * Source of the key's form: J. Groth, "On the size of pairing-based non-interactive arguments", EUROCRYPT 2016 (eprint
 * 2016/260), §3.2.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { PoolError } from '@pool/core';
import {
  encodeZkeyCoefficients,
  encodeZkeyHeader,
  type Group,
  measureZkeyCoefficients,
  measureZkeyPoints,
  type ZkeyHeaderFields,
  type ZkeyPointSection,
  zkeyPointBytes,
  zkeyPointGroups,
  zkeySection,
} from '@pool/kernels';
import { computeDomainSize, listKeyCoefficients, type R1cs } from '../../constraints/r1cs.ts';
import { createCircuitHasher, hashQuotient } from '../files/circuit-hash.ts';
import type { PowersOfTau } from '../files/powers-of-tau.ts';
import { chunksOf, malformedFile } from '../files/section-file.ts';
import type { SectionContents } from '../files/section-writer.ts';
import { encodeRecord } from '../files/transcript.ts';
import { areInSubgroup, type BulkOptions, type PointArithmetic } from '../points/point-sums.ts';
import { encodeG1, encodeG2 } from '../points/points.ts';
import { computeWireSums, type TermSource } from './wire-sums.ts';

export type InitialKeyParts = {
  readonly r1cs: R1cs;
  readonly powers: PowersOfTau;
  readonly arithmetic: PointArithmetic;
};

export type InitialKeyOptions = BulkOptions & {
  /** Called as wires and points are done; fraction in 0..1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

/** Sections of an initial key: 1, 2, 4, 3, 9, 8, 5, 6, 7, 10. */
export const initialSections = 10;

const pointsAtOnce = 1 << 14;

/** Power of two of the domain this circuit needs. @throws PoolError `artifact_malformed` */
export function decideExponent(r1cs: R1cs, powers: PowersOfTau): number {
  const exponent = Math.log2(computeDomainSize(r1cs));
  if (exponent > powers.power) {
    throw new PoolError(
      'artifact_malformed',
      `The circuit needs powers of tau for 2^${exponent} rows; the file has them for 2^${powers.power}.`,
    );
  }
  return exponent;
}

async function readG2(
  { arithmetic }: InitialKeyParts,
  points: Buffer,
  what: string,
  options: BulkOptions,
): Promise<Buffer> {
  if (!(await areInSubgroup(arithmetic, points, options))) {
    throw malformedFile('ptau', `${what} has a point outside the subgroup`);
  }
  return points;
}

/** Section 2 of the initial key. @throws PoolError `artifact_malformed` */
export async function computeInitialHeader(
  parts: InitialKeyParts,
  exponent: number,
): Promise<ZkeyHeaderFields> {
  const { r1cs, powers } = parts;
  const [g1, g2] = [encodeG1(bn254.G1.Point.BASE), encodeG2(bn254.G2.Point.BASE)];
  return {
    wires: r1cs.wires,
    publicSignals: r1cs.publicSignals,
    domainSize: 2 ** exponent,
    alpha1: await powers.readPoints('alphaTau1', 0, 1),
    beta1: await powers.readPoints('betaTau1', 0, 1),
    beta2: await readG2(parts, await powers.readPoints('beta2', 0, 1), 'section 6', {}),
    gamma2: g2,
    delta1: g1,
    delta2: g2,
  };
}

/** Section 9 of the initial key: the odd elements of the Lagrange basis over the doubled domain. */
export async function* readQuotientPoints(
  powers: PowersOfTau,
  exponent: number,
): AsyncGenerator<Buffer> {
  const size = zkeyPointBytes.g1;
  for (const { start, count } of chunksOf(2 ** exponent, pointsAtOnce)) {
    const both = await powers.readBasis('lagrange1', exponent + 1, 2 * start, 2 * count);
    const odd = Buffer.alloc(count * size);
    for (let i = 0; i < count; i++) {
      both.copy(odd, i * size, (2 * i + 1) * size, (2 * i + 2) * size);
    }
    yield odd;
  }
}

/** Ends a stream of points after this number of bytes. */
async function splitStream(
  stream: AsyncGenerator<Buffer>,
  bytes: number,
): Promise<{ head: Buffer; rest: AsyncGenerator<Buffer> }> {
  const parts: Buffer[] = [];
  let have = 0;
  while (have < bytes) {
    const next = await stream.next();
    if (next.done === true) {
      throw new RangeError('the stream of points is too short');
    }
    parts.push(next.value);
    have += next.value.length;
  }
  const joined = Buffer.concat(parts);
  async function* rest() {
    yield joined.subarray(bytes);
    yield* stream;
  }
  return { head: joined.subarray(0, bytes), rest: rest() };
}

/** The rows of A, those of the public signals among them. */
function describeA(r1cs: R1cs, points: Buffer): TermSource {
  return {
    matrix: r1cs.a,
    points,
    publicRows: { first: r1cs.constraints, count: r1cs.publicSignals + 1 },
  };
}

/**
 * Sections 3 and 8 of the initial key: beta·A + alpha·B + C of the public wires, at once, and of the private ones, a slice at a time.
 * @throws PoolError `artifact_malformed`
 */
export async function computeCombinedWires(
  { r1cs, powers, arithmetic }: InitialKeyParts,
  exponent: number,
  options: BulkOptions = {},
): Promise<{ readonly head: Buffer; readonly rest: AsyncGenerator<Buffer> }> {
  const readBasis = (name: Parameters<PowersOfTau['readBasis']>[0]): Promise<Buffer> =>
    powers.readBasis(name, exponent, 0, 2 ** exponent);
  const sources = [
    describeA(r1cs, await readBasis('betaLagrange1')),
    { matrix: r1cs.b, points: await readBasis('alphaLagrange1') },
    { matrix: r1cs.c, points: await readBasis('lagrange1') },
  ];
  return await splitStream(
    computeWireSums(arithmetic, 'g1', r1cs, sources, options),
    (r1cs.publicSignals + 1) * zkeyPointBytes.g1,
  );
}

/** Section 4: the terms of A and B. No contribution touches it. */
export function createCoefficientsSection(r1cs: R1cs): SectionContents {
  const coefficients = listKeyCoefficients(r1cs);
  return {
    id: zkeySection.coefficients,
    length: measureZkeyCoefficients('standard', coefficients),
    chunks: encodeZkeyCoefficients('standard', coefficients),
  };
}

/**
 * Computes the sections of the initial key in the order of its file. Each section's chunks must be read to their end before the next
 * section is asked for.
 * @throws PoolError `artifact_malformed`
 */
export async function* computeInitialSections(
  parts: InitialKeyParts,
  options: InitialKeyOptions = {},
): AsyncGenerator<SectionContents> {
  const { r1cs, powers, arithmetic } = parts;
  const exponent = decideExponent(r1cs, powers);
  const domainSize = 2 ** exponent;
  const header = await computeInitialHeader(parts, exponent);
  const hasher = createCircuitHasher(header);
  // The combined sums have about the terms of A and of B; a wire's sum in G2 costs about as much as three in G1.
  const costs: Partial<Record<ZkeyPointSection, number>> = { c: 2, b2: 3 };
  const total = 7 * r1cs.wires + domainSize;
  let done = 0;
  const section = (name: ZkeyPointSection, chunks: AsyncIterable<Buffer>): SectionContents => {
    async function* counted() {
      for await (const chunk of chunks) {
        done += (chunk.length / zkeyPointBytes[zkeyPointGroups[name]]) * (costs[name] ?? 1);
        options.onProgress?.(Math.min(1, done / total));
        options.signal?.throwIfAborted();
        yield chunk;
      }
    }
    return {
      id: zkeySection[name],
      length: measureZkeyPoints(name, header),
      chunks: counted(),
    };
  };

  yield { id: zkeySection.protocol, length: 4, chunks: [Uint8Array.of(1, 0, 0, 0)] };
  const encoded = encodeZkeyHeader(header);
  yield { id: zkeySection.header, length: encoded.length, chunks: [encoded] };
  yield createCoefficientsSection(r1cs);

  const { head, rest } = await computeCombinedWires(parts, exponent, options);
  const publicWires = r1cs.publicSignals + 1;
  hasher.begin(publicWires);
  hasher.update('g1', head);
  async function* yieldHead() {
    yield head;
  }
  yield section('ic', yieldHead());
  yield section('h', readQuotientPoints(powers, exponent));
  await hashQuotient(hasher, powers, domainSize);
  const { wires } = r1cs;
  yield section('c', hasher.tee('g1', wires - publicWires, rest));

  const basis = await powers.readBasis('lagrange1', exponent, 0, domainSize);
  const sums = (group: Group, source: TermSource) =>
    computeWireSums(arithmetic, group, r1cs, [source], options);
  const sumsA = sums('g1', describeA(r1cs, basis));
  yield section('a', hasher.tee('g1', wires, sumsA));
  const sumsB = sums('g1', { matrix: r1cs.b, points: basis });
  yield section('b1', hasher.tee('g1', wires, sumsB));
  const read = await powers.readBasis('lagrange2', exponent, 0, domainSize);
  const basis2 = await readG2(parts, read, 'section 13', options);
  const sumsB2 = sums('g2', { matrix: r1cs.b, points: basis2 });
  yield section('b2', hasher.tee('g2', wires, sumsB2));

  const record = encodeRecord({ circuitHash: hasher.digest(), contributions: [] });
  yield { id: zkeySection.contributions, length: record.length, chunks: [record] };
}
