/** Membership in G2 against the definition: order r. */
import { bn254 } from '@noble/curves/bn254.js';
import { findInvalidPoint, scalarFieldOrder, zkeyPointBytes } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNobleArithmetic } from '../../../test/noble-arithmetic.ts';
import { pointOutsideSubgroup } from '../../../test/twist-points.ts';
import { areInSubgroup, createKernelArithmetic, type PointArithmetic } from './point-sums.ts';
import { encodeG2, type G2Point } from './points.ts';

const { Point } = bn254.G2;
let kernels: PointArithmetic;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
});
afterAll(() => kernels.close());

function timesOrder(point: G2Point): G2Point {
  return point.multiplyUnsafe(scalarFieldOrder - 1n).add(point);
}

/** A point of order 10069, the smallest order: a point of the twist times the rest of the twist's order. */
function pointOfSmallOrder(): G2Point {
  const rest = (Point.CURVE().h * scalarFieldOrder) / 10_069n;
  let small = Point.ZERO;
  for (let start = 1n; small.is0(); start += 100n) {
    let power = pointOutsideSubgroup(start);
    for (let k = rest; k > 0n; k >>= 1n) {
      if (k & 1n) {
        small = small.add(power);
      }
      power = power.double();
    }
  }
  return small;
}

describe.each(['noble-curves', 'kernels'])('membership in G2 with %s', (name) => {
  const inside = [1n, 2n, 12_345n, scalarFieldOrder - 1n].map((k) => Point.BASE.multiply(k));
  /** Enough of them to be checked by sums. */
  const many = [...inside, ...inside, ...inside, Point.ZERO];
  const areMembers = (points: readonly G2Point[]) =>
    areInSubgroup(
      name === 'kernels' ? kernels : createNobleArithmetic(),
      Buffer.concat(points.map(encodeG2)),
    );

  it('holds for multiples of the generator, and for infinity', async () => {
    expect(await areMembers([])).toBe(true);
    expect(await areMembers([...inside, Point.ZERO])).toBe(true);
    expect(await areMembers(many)).toBe(true);
  });

  it('fails for one point outside the subgroup, at any position', async () => {
    const outside = pointOutsideSubgroup(100n);
    expect(timesOrder(outside).is0()).toBe(false);
    expect(findInvalidPoint('g2', encodeG2(outside), 'refused')).toBeUndefined();
    for (const points of [inside, many]) {
      for (const place of [0, 3, points.length]) {
        expect(await areMembers(points.toSpliced(place, 0, outside))).toBe(false);
      }
    }
  });

  it('fails for points of order 10069, also when they add up to infinity', async () => {
    const small = pointOfSmallOrder();
    expect(small.multiplyUnsafe(10_069n).is0()).toBe(true);
    expect(await areMembers([small])).toBe(false);
    for (let round = 0; round < 5; round++) {
      expect(await areMembers([...many, small])).toBe(false);
      expect(await areMembers([...many, small, small.negate()])).toBe(false);
    }
  });
});

describe('points of files', () => {
  it('are refused off the curve, with a coordinate not below q, and at infinity where infinity is invalid', () => {
    const bytes = encodeG2(Point.BASE);
    for (let at = 0; at < zkeyPointBytes.g2; at += 32) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(findInvalidPoint('g2', changed, 'allowed')).toBe(0);
      expect(findInvalidPoint('g2', Buffer.concat([bytes, changed]), 'allowed')).toBe(1);
      const large = Buffer.from(bytes).fill(0xff, at, at + 32);
      expect(findInvalidPoint('g2', large, 'allowed')).toBe(0);
    }
    expect(findInvalidPoint('g2', Buffer.alloc(128), 'allowed')).toBeUndefined();
    expect(findInvalidPoint('g2', Buffer.alloc(128), 'refused')).toBe(0);
  });
});
