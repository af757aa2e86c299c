/**
 * Checks the sections with A and B of every wire without computing them: with random weights w, the sum of w_i times the point of
 * wire i must equal the sum over the rows of (sum of w_i times the matrix entry) times the row's Lagrange point. This takes two
 * sums of scalar multiples instead of one sum per wire.
 *
 * @module
 */
import {
  encodeIntegers,
  findInvalidPoint,
  type Group,
  scalarFieldOrder,
  zkeyPointBytes,
  zkeySection,
} from '@pool/kernels';
import type { R1cs, R1csMatrix } from '../../constraints/r1cs.ts';
import type { CircuitHasher } from '../files/circuit-hash.ts';
import type { KeyFile } from '../files/key-file.ts';
import { chunksOf } from '../files/section-file.ts';
import type { InitialKeyParts } from '../key/initial-key.ts';
import {
  areInSubgroup,
  type BulkOptions,
  createSumG1,
  createSumG2,
  createWeights,
  type PointArithmetic,
  type PointSum,
  readWeights,
} from '../points/point-sums.ts';

const pointsAtOnce = 1 << 16;

/** For each row of the domain, the sum of entry·weight over its wires, 32 bytes little-endian each. */
function combineRows(
  r1cs: R1cs,
  matrix: R1csMatrix,
  weights: readonly bigint[],
  domainSize: number,
  isA: boolean,
): Uint8Array {
  const rows = new Array<bigint>(domainSize).fill(0n);
  for (let row = 0; row < r1cs.constraints; row++) {
    let sum = 0n;
    const end = matrix.rowStart[row + 1] ?? 0;
    for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
      const coefficient = r1cs.coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
      sum += coefficient * (weights[matrix.wire[term] ?? 0] ?? 0n);
    }
    rows[row] = sum % scalarFieldOrder;
  }
  if (isA) {
    for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
      rows[r1cs.constraints + wire] = weights[wire] ?? 0n;
    }
  }
  return encodeIntegers(rows);
}

/**
 * Adds all points of a section of the key. Returns false if one is not in its group. The hasher receives all points, right or
 * wrong.
 */
async function sumSection(
  { file, header }: KeyFile,
  place: { readonly id: number; readonly group: Group },
  weights: Buffer,
  sum: PointSum<unknown>,
  parts: InitialKeyParts,
  hasher: CircuitHasher,
  options: BulkOptions,
): Promise<boolean> {
  const { id, group } = place;
  const size = zkeyPointBytes[group];
  let isSound = true;
  hasher.begin(header.wires);
  for (const { start, count } of chunksOf(header.wires, pointsAtOnce)) {
    const points = await file.read(id, start * size, count * size);
    hasher.update(group, points);
    isSound &&= findInvalidPoint(group, points, 'allowed') === undefined;
    // Sums with full weights have no meaning for points outside the subgroup, so this check comes first.
    isSound &&= group === 'g1' || (await areInSubgroup(parts.arithmetic, points, options));
    if (isSound) {
      await sum.add(points, weights.subarray(32 * start, 32 * (start + count)));
    }
  }
  return isSound;
}

/** Adds the rows' Lagrange points. */
async function sumBasis(
  { powers }: InitialKeyParts,
  section: 'lagrange1' | 'lagrange2',
  exponent: number,
  rows: Uint8Array,
  sum: PointSum<unknown>,
): Promise<void> {
  for (const { start, count } of chunksOf(2 ** exponent, pointsAtOnce)) {
    const points = await powers.readBasis(section, exponent, start, count);
    await sum.add(points, rows.subarray(32 * start, 32 * (start + count)));
  }
}

/**
 * The sections among 5, 6 and 7 that differ from the result of circuit and powers of tau, in this order. The powers must be
 * checked before, and the key must have the circuit's counts. The hasher receives the three sections as they are in the file.
 * @throws PoolError `artifact_malformed`
 */
export async function findWrongWireSections(
  key: KeyFile,
  parts: InitialKeyParts,
  hasher: CircuitHasher,
  options: BulkOptions & { readonly onSection?: (() => void) | undefined } = {},
): Promise<number[]> {
  const { r1cs, arithmetic } = parts;
  const { wires, domainSize } = key.header;
  const exponent = Math.log2(domainSize);
  const wrong: number[] = [];
  for (const [id, group, matrix] of [
    [zkeySection.a, 'g1', r1cs.a],
    [zkeySection.b1, 'g1', r1cs.b],
    [zkeySection.b2, 'g2', r1cs.b],
  ] as const) {
    const weights = createWeights(wires);
    const rows = combineRows(r1cs, matrix, readWeights(weights), domainSize, id === zkeySection.a);
    const compare = async <P extends { equals(other: P): boolean }>(
      create: (arithmetic: PointArithmetic, options: BulkOptions) => PointSum<P>,
    ): Promise<boolean> => {
      const [actual, expected] = [create(arithmetic, options), create(arithmetic, options)];
      if (!(await sumSection(key, { id, group }, weights, actual, parts, hasher, options))) {
        return false;
      }
      await sumBasis(parts, group === 'g1' ? 'lagrange1' : 'lagrange2', exponent, rows, expected);
      return actual.total().equals(expected.total());
    };
    const agrees = group === 'g1' ? await compare(createSumG1) : await compare(createSumG2);
    if (!agrees) {
      wrong.push(id);
    }
    options.onSection?.();
  }
  return wrong;
}
