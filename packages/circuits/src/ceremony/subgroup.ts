/**
 * Membership of points of the twist in G2. Its curve has many more points than G2, some of tiny order: such a point in a key, or
 * handed to a contributor, would leak what it is multiplied with, and would slip through checks that add points up.
 *
 * Points are checked all together: sums with random small weights, which belong to G2 if all points do. The twist's order is r times
 * a cofactor whose smallest prime is 10069, without squares; with one point outside, a sum lands in G2 with probability at most
 * 1/9986 (a weight of 20 bits modulo that prime), so ten of them do with less than 2^-132.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import { decodeG2, pointBytes } from './points.ts';

const randomSums = 10;
const weightBits = 20;

/** Scalars of 32 bytes of which the lowest bits are random. */
function createSmallWeights(count: number): Buffer {
  const weights = Buffer.alloc(32 * count);
  const random = randomBytes(4 * count);
  for (let i = 0; i < count; i++) {
    weights.writeUInt32LE(random.readUInt32LE(4 * i) >>> (32 - weightBits), 32 * i);
  }
  return weights;
}

/** Do all of these points belong to G2? They must lie on the twist or be at infinity. */
export async function areInSubgroup(
  arithmetic: PointArithmetic,
  points: Uint8Array,
  options: BulkOptions = {},
): Promise<boolean> {
  const count = points.length / pointBytes.g2;
  if (count <= randomSums) {
    return Array.from({ length: count }, (_, i) =>
      decodeG2(points.subarray(i * pointBytes.g2, (i + 1) * pointBytes.g2)),
    ).every((point) => point.isTorsionFree());
  }
  for (let sum = 0; sum < randomSums; sum++) {
    // Integers far below half of r, so the sum is right outside the subgroup too.
    const weights = createSmallWeights(count);
    const point = decodeG2(await arithmetic.computeMsm('g2', points, weights, options));
    if (!point.isTorsionFree()) {
      return false;
    }
  }
  return true;
}
