/**
 * Membership of points of the twist in G2. The twist has many more points than G2, some of very small order. Such a point in a
 * key, or given to a contributor, would leak the factor it is multiplied by, and could pass checks that add points.
 *
 * All points are checked together: sums with small random weights belong to G2 if all points do. The order of the twist is r
 * times a cofactor without square factors whose smallest prime is 10069. With one point outside, a sum is in G2 with probability
 * at most 1/9986 (a weight of 20 bits modulo that prime). Ten sums are with probability less than 2^-132.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import { decodeG2, pointBytes } from './points.ts';

const randomSums = 10;
const weightBits = 20;

/** Scalars of 32 bytes with random lowest bits. */
function createSmallWeights(count: number): Buffer {
  const weights = Buffer.alloc(32 * count);
  const random = randomBytes(4 * count);
  for (let i = 0; i < count; i++) {
    weights.writeUInt32LE(random.readUInt32LE(4 * i) >>> (32 - weightBits), 32 * i);
  }
  return weights;
}

/** True if all points belong to G2. They must be on the twist or at infinity. */
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
    // The weights are integers far below half of r, so the sum is also right outside the subgroup.
    const weights = createSmallWeights(count);
    const point = decodeG2(await arithmetic.computeMsm('g2', points, weights, options));
    if (!point.isTorsionFree()) {
      return false;
    }
  }
  return true;
}
