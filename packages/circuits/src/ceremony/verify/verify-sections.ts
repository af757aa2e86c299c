/**
 * Checks the sections of a key against the initial key of the circuit and the powers of tau.
 *
 * Public wires' points and coefficients must equal the initial ones byte for byte. A and B of all wires are checked by sums with
 * random weights (`verify-wires.ts`). The private wires' and the quotient's points must all be divided by the same delta: with
 * random 128-bit weights, the sum of the key's points times delta must equal the sum of the initial points, checked by a pairing.
 * A wrong point passes with probability 2^-128.
 *
 * The private wires' initial points are computed one by one, because the circuit hash covers them and no key contains them any
 * more.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import {
  encodeZkeyHeader,
  findInvalidPoint,
  type ZkeyHeaderFields,
  zkeyPointBytes,
  zkeySection,
} from '@pool/kernels';
import { createCircuitHasher, hashQuotient } from '../files/circuit-hash.ts';
import type { KeyFile } from '../files/key-file.ts';
import type { SectionContents } from '../files/section-writer.ts';
import type { KeyProblem } from '../key/contribution-rules.ts';
import {
  computeCombinedWires,
  computeInitialHeader,
  createCoefficientsSection,
  decideExponent,
  type InitialKeyOptions,
  type InitialKeyParts,
  readQuotientPoints,
} from '../key/initial-key.ts';
import { haveSameRatio } from '../key/verify-contributions.ts';
import {
  type BulkOptions,
  createSumG1,
  createWeights,
  type PointArithmetic,
} from '../points/point-sums.ts';
import { asBuffer, decodeG2, isSoundG2 } from '../points/points.ts';
import { findWrongWireSections } from './verify-wires.ts';

const differs = 'differs from the result of circuit and powers of tau';
const isUndivided = 'is not the initial one divided by delta';
const sectionProblems = new Map<number, KeyProblem>(
  (
    [
      ['ic', 'public_points_mismatch', "public inputs' points", differs],
      ['coefficients', 'coefficients_mismatch', 'coefficients', 'differs from the circuit'],
      ['a', 'a_points_mismatch', 'A', differs],
      ['b1', 'b1_points_mismatch', 'B in G1', differs],
      ['b2', 'b2_points_mismatch', 'B in G2', differs],
      ['c', 'private_points_mismatch', "private wires' points", isUndivided],
      ['h', 'quotient_points_mismatch', "quotient's points", isUndivided],
    ] as const
  ).map(([name, code, contents, what]) => {
    const id = zkeySection[name];
    return [id, { code, message: `Section ${id} (${contents}) ${what}.` }];
  }),
);

/** Compares a section that no contribution changes. */
async function isEqualSection({ file }: KeyFile, section: SectionContents): Promise<boolean> {
  if (file.sizeOf(section.id) !== section.length) {
    return false;
  }
  let position = 0;
  for await (const chunk of section.chunks) {
    if (!(await file.read(section.id, position, chunk.length)).equals(chunk)) {
      return false;
    }
    position += chunk.length;
  }
  return true;
}

/** True if the section is the initial one divided by delta. Always reads the initial points to their end. */
async function isDividedSection(
  { file, header }: KeyFile,
  id: number,
  initialPoints: AsyncIterable<Buffer>,
  {
    arithmetic,
    signal,
    onPoints,
  }: BulkOptions & {
    readonly arithmetic: PointArithmetic;
    readonly onPoints: (count: number) => void;
  },
): Promise<boolean> {
  const [initial, actual] = [
    createSumG1(arithmetic, { signal }),
    createSumG1(arithmetic, { signal }),
  ];
  let isSound = isSoundG2(header.delta2);
  let position = 0;
  for await (const chunk of initialPoints) {
    signal?.throwIfAborted();
    const points = await file.read(id, position, chunk.length);
    position += chunk.length;
    isSound &&= findInvalidPoint('g1', points, 'allowed') === undefined;
    const count = chunk.length / zkeyPointBytes.g1;
    if (isSound && count > 0) {
      const weights = createWeights(count);
      await initial.add(chunk, weights);
      await actual.add(points, weights);
    }
    onPoints(count);
  }
  const [before, after] = [initial.total(), actual.total()];
  if (!isSound || before.is0() || after.is0()) {
    return isSound && before.is0() && after.is0();
  }
  return haveSameRatio(after, before, bn254.G2.Point.BASE, decodeG2(header.delta2));
}

function findHeaderProblems(header: ZkeyHeaderFields, other: ZkeyHeaderFields): KeyProblem[] {
  const [withDeltas, expected] = [header, other].map((each) =>
    asBuffer(encodeZkeyHeader(each)),
  ) as [Buffer, Buffer];
  const deltas = zkeyPointBytes.g1 + zkeyPointBytes.g2;
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
            'Alpha, beta or gamma differ: the key was started from another powers-of-tau file, or it was changed.',
        },
      ];
}

/** The progress of the section checks, as a fraction of all of them. */
function createSectionProgress(
  header: ZkeyHeaderFields,
  onProgress: InitialKeyOptions['onProgress'],
) {
  // The private wires' initial points take by far the most time.
  const total = 8 * header.wires + header.domainSize;
  let done = 0;
  return (cost: number): void => {
    done += cost;
    onProgress?.(Math.min(1, done / total));
  };
}

/**
 * All problems of a key's sections. The powers must be checked before.
 * @throws PoolError `artifact_malformed`
 */
export async function findSectionProblems(
  key: KeyFile,
  circuitHash: Uint8Array,
  parts: InitialKeyParts,
  options: InitialKeyOptions = {},
): Promise<KeyProblem[]> {
  const { r1cs, powers, arithmetic } = parts;
  const bulk = { arithmetic, signal: options.signal };
  const exponent = decideExponent(r1cs, powers);
  const header = await computeInitialHeader(parts, exponent);
  const headerProblems = findHeaderProblems(key.header, header);
  if (headerProblems.length > 0) {
    // With another circuit or other powers of tau, no other check can pass.
    return headerProblems;
  }
  const { wires, domainSize } = header;
  const publicWires = header.publicSignals + 1;
  const progress = createSectionProgress(header, options.onProgress);
  const wrong: number[] = [];
  const note = (id: number, agrees: boolean): void => {
    if (!agrees) {
      wrong.push(id);
    }
  };
  // A delta that is not a point of G2 was already reported. The division by it is then not reported again.
  const canDivide = isSoundG2(key.header.delta2);

  note(zkeySection.coefficients, await isEqualSection(key, createCoefficientsSection(r1cs)));
  const hasher = createCircuitHasher(header);
  const { head, rest } = await computeCombinedWires(parts, exponent, options);
  const actual = await key.file.read(zkeySection.ic, 0, head.length);
  note(zkeySection.ic, actual.equals(head));
  hasher.begin(publicWires);
  hasher.update('g1', head);
  const quotientPoints = readQuotientPoints(powers, exponent);
  const quotientAgrees = await isDividedSection(key, zkeySection.h, quotientPoints, {
    ...bulk,
    onPoints: progress,
  });
  note(zkeySection.h, quotientAgrees || !canDivide);
  await hashQuotient(hasher, powers, domainSize);
  const privatePoints = hasher.tee('g1', wires - publicWires, rest);
  const privateAgrees = await isDividedSection(key, zkeySection.c, privatePoints, {
    ...bulk,
    onPoints: (count) => progress(5 * count),
  });
  note(zkeySection.c, privateAgrees || !canDivide);
  const wrongWires = await findWrongWireSections(key, parts, hasher, {
    signal: options.signal,
    onSection: () => progress(wires),
  });
  wrong.push(...wrongWires);

  const problems = wrong.flatMap((id) => sectionProblems.get(id) ?? []);
  // With wrong points, the hash would differ as well, which adds no information.
  if (wrongWires.length === 0 && Buffer.compare(hasher.digest(), circuitHash) !== 0) {
    problems.push({
      code: 'circuit_hash_mismatch',
      message:
        'The circuit hash in the key is not the hash of this circuit and these powers of tau.',
    });
  }
  return problems;
}
