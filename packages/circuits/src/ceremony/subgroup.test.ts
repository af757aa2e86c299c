/** Membership in G2 against noble-curves and against the definition: order r. */
import { bn254 } from '@noble/curves/bn254.js';
import { describe, expect, it } from 'vitest';
import { FIELD_ORDER } from '../field.ts';
import { createNobleArithmetic } from './noble-arithmetic.ts';
import { encodeG2, findInvalidPoint, type G2Point, pointBytes } from './points.ts';
import { findOutsideSubgroup } from './subgroup.ts';

const { Fp2 } = bn254.fields;
const { Point } = bn254.G2;
const arithmetic = createNobleArithmetic();
const find = (points: readonly G2Point[]) =>
  findOutsideSubgroup(arithmetic, Buffer.concat(points.map(encodeG2)));

/** Any point of the twist with this x or the next that has one. */
const pointOfTwist = (start: bigint): G2Point => {
  for (let x = start; ; x++) {
    try {
      const c = { c0: x, c1: 1n };
      const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(c), c), Point.CURVE().b));
      return Point.fromAffine({ x: c, y });
    } catch {
      // No point has this x.
    }
  }
};
const timesOrder = (point: G2Point): G2Point => point.multiplyUnsafe(FIELD_ORDER - 1n).add(point);

describe('membership in G2', () => {
  const inside = [1n, 2n, 12_345n, FIELD_ORDER - 1n].map((k) => Point.BASE.multiply(k));

  it('holds for multiples of the generator, and for infinity', async () => {
    expect(await find([...inside, Point.ZERO])).toBeUndefined();
    expect(await find([])).toBeUndefined();
  });

  it('fails for other points of the twist, and says which', async () => {
    for (const start of [1n, 100n, 5_000n]) {
      const outside = pointOfTwist(start);
      expect(timesOrder(outside).is0()).toBe(false);
      expect(findInvalidPoint('g2', encodeG2(outside), 'refused')).toBeUndefined();
      expect(await find([...inside, outside])).toBe(inside.length);
    }
  });

  it('fails for a point of order 10069, the smallest there is', async () => {
    // The cofactor is 10069 · …; what is left after the rest has that order.
    const rest = (Point.CURVE().h * FIELD_ORDER) / 10_069n;
    let small = Point.ZERO;
    for (let start = 1n; small.is0(); start += 100n) {
      let power = pointOfTwist(start);
      for (let k = rest; k > 0n; k >>= 1n) {
        if (k & 1n) {
          small = small.add(power);
        }
        power = power.double();
      }
    }
    expect(small.multiplyUnsafe(10_069n).is0()).toBe(true);
    expect(await find([small])).toBe(0);
  });
});

describe('points of files', () => {
  it('are refused off the curve, with a coordinate not below q, and at infinity where that means nothing', () => {
    const bytes = encodeG2(Point.BASE);
    for (let at = 0; at < pointBytes.g2; at += 32) {
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
