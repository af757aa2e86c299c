/**
 * The key before any contribution, as it follows from a circuit and a powers-of-tau file alone: gamma = delta = 1, and every
 * section in the order and with the bytes that snarkjs gives it. Whoever has both files computes the same key, so a verifier
 * compares instead of trusting whoever began the ceremony.
 *
 * Besides the points it computes the circuit hash, which opens the transcript of contributions: BLAKE2b over the header's points and
 * over each section of points with its count, tau^(n+i) - tau^i standing for the quotient's section.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { PoolError } from '@pool/core';
import { FIELD_ORDER } from '../field.ts';
import { computeDomainSize, type R1cs } from '../r1cs.ts';
import { subtractG1 } from './affine-sums.ts';
import {
  COEFFICIENT_BYTES,
  encodeKeyHeader,
  encodeProtocol,
  type KeyHeader,
  keySections,
  pointSectionSizes,
} from './key-file.ts';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import {
  encodeForTranscript,
  encodeG1,
  encodeG2,
  encodeInteger,
  type Group,
  pointBytes,
} from './points.ts';
import type { PowersOfTau } from './powers-of-tau.ts';
import { chunksOf, malformedFile } from './section-file.ts';
import type { SectionContents } from './section-writer.ts';
import { findOutsideSubgroup } from './subgroup.ts';
import { encodeRecord } from './transcript.ts';
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
export const INITIAL_SECTIONS = 10;

const POINTS_AT_ONCE = 1 << 14;
const ENTRIES_AT_ONCE = 1 << 14;
const MONTGOMERY_SQUARED = (1n << 512n) % FIELD_ORDER;

/** Power of two of the domain this circuit needs. @throws PoolError `ptau_too_small` */
const decideExponent = (r1cs: R1cs, powers: PowersOfTau): number => {
  const exponent = Math.log2(computeDomainSize(r1cs));
  if (exponent > powers.power) {
    throw new PoolError(
      'ptau_too_small',
      `The circuit needs powers of tau for 2^${exponent} rows; the file has them for 2^${powers.power}.`,
    );
  }
  return exponent;
};

const readG2 = async (arithmetic: PointArithmetic, points: Buffer, what: string) => {
  if ((await findOutsideSubgroup(arithmetic, points)) !== undefined) {
    throw malformedFile('ptau', `${what} has a point outside the subgroup`);
  }
  return points;
};

const computeHeader = async (
  { r1cs, powers, arithmetic }: InitialKeyParts,
  exponent: number,
): Promise<KeyHeader> => {
  const [g1, g2] = [encodeG1(bn254.G1.Point.BASE), encodeG2(bn254.G2.Point.BASE)];
  return {
    wires: r1cs.wires,
    publicSignals: r1cs.publicSignals,
    domainSize: 2 ** exponent,
    alpha1: await powers.readPoints('alphaTau1', 0, 1),
    beta1: await powers.readPoints('betaTau1', 0, 1),
    beta2: await readG2(arithmetic, await powers.readPoints('beta2', 0, 1), 'section 6'),
    gamma2: g2,
    delta1: g1,
    delta2: g2,
  };
};

/** The terms of A and B, row by row, values times 2^512 mod r; then one term for each public row. */
function* encodeCoefficients(r1cs: R1cs): Generator<Buffer> {
  const values = [...r1cs.coefficients, 1n].map((value) =>
    encodeInteger((value * MONTGOMERY_SQUARED) % FIELD_ORDER),
  );
  const one = values.length - 1;
  const count = Buffer.alloc(4);
  count.writeUInt32LE(countCoefficients(r1cs));
  yield count;
  let bytes = Buffer.alloc(ENTRIES_AT_ONCE * COEFFICIENT_BYTES);
  let position = 0;
  function* push(matrix: number, row: number, wire: number, value: number): Generator<Buffer> {
    bytes.writeUInt32LE(matrix, position);
    bytes.writeUInt32LE(row, position + 4);
    bytes.writeUInt32LE(wire, position + 8);
    values[value]?.copy(bytes, position + 12);
    position += COEFFICIENT_BYTES;
    if (position === bytes.length) {
      yield bytes;
      bytes = Buffer.alloc(bytes.length);
      position = 0;
    }
  }
  for (let row = 0; row < r1cs.constraints; row++) {
    for (const [number, matrix] of [r1cs.a, r1cs.b].entries()) {
      const end = matrix.rowStart[row + 1] ?? 0;
      for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
        yield* push(number, row, matrix.wire[term] ?? 0, matrix.coefficient[term] ?? 0);
      }
    }
  }
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
    yield* push(0, r1cs.constraints + wire, wire, one);
  }
  yield bytes.subarray(0, position);
}

const countCoefficients = (r1cs: R1cs): number =>
  r1cs.a.wire.length + r1cs.b.wire.length + r1cs.publicSignals + 1;

/** The odd elements of the Lagrange basis over the doubled domain. */
async function* readQuotientPoints(powers: PowersOfTau, exponent: number): AsyncGenerator<Buffer> {
  const size = pointBytes.g1;
  for (const { start, count } of chunksOf(2 ** exponent, POINTS_AT_ONCE)) {
    const both = await powers.readBasis('lagrange1', exponent + 1, 2 * start, 2 * count);
    const odd = Buffer.alloc(count * size);
    for (let i = 0; i < count; i++) {
      both.copy(odd, i * size, (2 * i + 1) * size, (2 * i + 2) * size);
    }
    yield odd;
  }
}

/** BLAKE2b over points as transcripts hash them. */
const createCircuitHasher = () => {
  const hasher = blake2b.create();
  const update = (group: Group, points: Uint8Array) => {
    hasher.update(encodeForTranscript(group, points));
  };
  return {
    update,
    begin: (points: number) => {
      const count = Buffer.alloc(4);
      count.writeUInt32BE(points);
      hasher.update(count);
    },
    /** Passes chunks through and hashes them on their way. */
    async *tee(group: Group, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        update(group, chunk);
        yield chunk;
      }
    },
    digest: () => hasher.digest(),
  };
};

/** Cuts a stream of points into its first `count` points and the rest. */
const splitStream = async (
  stream: AsyncGenerator<Buffer>,
  bytes: number,
): Promise<{ head: Buffer; rest: AsyncGenerator<Buffer> }> => {
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
};

/**
 * Computes the sections of the initial key in the order of its file. Each section's chunks must be read to their end before the next
 * section is asked for.
 * @throws PoolError `ptau_too_small`, `ptau_malformed`
 */
export async function* computeInitialSections(
  parts: InitialKeyParts,
  options: InitialKeyOptions = {},
): AsyncGenerator<SectionContents> {
  const { r1cs, powers, arithmetic } = parts;
  const exponent = decideExponent(r1cs, powers);
  const domainSize = 2 ** exponent;
  const header = await computeHeader(parts, exponent);
  const hasher = createCircuitHasher();
  for (const name of ['alpha1', 'beta1', 'beta2', 'gamma2', 'delta1', 'delta2'] as const) {
    hasher.update(name.endsWith('1') ? 'g1' : 'g2', header[name]);
  }
  const sizes = pointSectionSizes(header);
  const total = 5 * r1cs.wires + domainSize;
  let done = 0;
  const section = (id: number, group: Group, chunks: AsyncIterable<Buffer>): SectionContents => {
    async function* counted() {
      for await (const chunk of chunks) {
        // A wire's sum in G2 costs about as much as two in G1.
        done += (chunk.length / pointBytes[group]) * (group === 'g2' ? 2 : 1);
        options.onProgress?.(Math.min(1, done / total));
        options.signal?.throwIfAborted();
        yield chunk;
      }
    }
    return { id, length: sizes.get(id) ?? 0, chunks: counted() };
  };

  const protocol = encodeProtocol();
  yield { id: keySections.protocol, length: protocol.length, chunks: [protocol] };
  const encoded = encodeKeyHeader(header);
  yield { id: keySections.header, length: encoded.length, chunks: [encoded] };
  yield {
    id: keySections.coefficients,
    length: 4 + countCoefficients(r1cs) * COEFFICIENT_BYTES,
    chunks: encodeCoefficients(r1cs),
  };

  const readBasis = async (name: Parameters<PowersOfTau['readBasis']>[0]): Promise<Buffer> =>
    await powers.readBasis(name, exponent, 0, domainSize);
  const basis = await readBasis('lagrange1');
  const publicRows = { first: r1cs.constraints, count: r1cs.publicSignals + 1 };
  const sourceA: TermSource = { matrix: r1cs.a, points: basis, publicRows };
  const sums = (group: Group, sources: readonly TermSource[]) =>
    computeWireSums(arithmetic, group, r1cs, sources, options);

  const combined = sums('g1', [
    { ...sourceA, points: await readBasis('betaLagrange1') },
    { matrix: r1cs.b, points: await readBasis('alphaLagrange1') },
    { matrix: r1cs.c, points: basis },
  ]);
  const { head, rest } = await splitStream(combined, publicRows.count * pointBytes.g1);
  hasher.begin(publicRows.count);
  hasher.update('g1', head);
  async function* publicWires() {
    yield head;
  }
  yield section(keySections.publicWires, 'g1', publicWires());

  yield section(keySections.quotient, 'g1', readQuotientPoints(powers, exponent));
  hasher.begin(domainSize - 1);
  for (const { start, count } of chunksOf(domainSize - 1, POINTS_AT_ONCE)) {
    const high = await powers.readPoints('tau1', domainSize + start, count);
    const low = await powers.readPoints('tau1', start, count);
    hasher.update('g1', subtractG1(high, low));
  }

  hasher.begin(r1cs.wires - publicRows.count);
  yield section(keySections.privateWires, 'g1', hasher.tee('g1', rest));
  hasher.begin(r1cs.wires);
  yield section(keySections.a, 'g1', hasher.tee('g1', sums('g1', [sourceA])));
  const sourceB: TermSource = { matrix: r1cs.b, points: basis };
  hasher.begin(r1cs.wires);
  yield section(keySections.b1, 'g1', hasher.tee('g1', sums('g1', [sourceB])));
  const basis2 = await readG2(arithmetic, await readBasis('lagrange2'), 'section 13');
  hasher.begin(r1cs.wires);
  const sumsB2 = sums('g2', [{ matrix: r1cs.b, points: basis2 }]);
  yield section(keySections.b2, 'g2', hasher.tee('g2', sumsB2));

  const record = encodeRecord({ circuitHash: hasher.digest(), contributions: [] });
  yield { id: keySections.contributions, length: record.length, chunks: [record] };
}
