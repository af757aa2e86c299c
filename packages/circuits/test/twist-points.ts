/** Points of the twist that are not in G2; for tests only. */
import { bn254 } from '@noble/curves/bn254.js';

const { Fp2 } = bn254.fields;
const { Point } = bn254.G2;

/** A point with this x or the next x that has one. It is in G2 with probability 2^-254 only. */
export function pointOutsideSubgroup(start: bigint): InstanceType<typeof Point> {
  for (let x = start; ; x++) {
    try {
      const c = { c0: x, c1: 1n };
      const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(c), c), Point.CURVE().b));
      return Point.fromAffine({ x: c, y });
    } catch {
      // No point has this x.
    }
  }
}
