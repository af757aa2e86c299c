/** Changes to sections of a powers-of-tau file that follow a pattern, as an attacker would choose them; for tests only. */
import { bn254 } from '@noble/curves/bn254.js';
import { decodeG1, decodeG2, encodeG1, encodeG2 } from '../src/ceremony/points/points.ts';

const { Fr } = bn254.fields;
type G1 = InstanceType<typeof bn254.G1.Point>;
type Group = 'g1' | 'g2';

const sizes = { g1: 64, g2: 128 } as const;

/** The root of unity of order 2^exponent that orders the bases. */
export function rootOf(exponent: number): bigint {
  return Fr.pow(5n, (Fr.ORDER - 1n) / 2n ** BigInt(exponent));
}

/** Adds multiple(j)·5·generator to the points first + j, j = 0..count-1, of a section. */
export function shiftPoints(
  group: Group,
  first: number,
  count: number,
  multiple: (j: number) => bigint,
) {
  return (section: Buffer): void => {
    for (let j = 0; j < count; j++) {
      const scalar = Fr.mul(5n, Fr.create(multiple(j)));
      if (scalar !== 0n) {
        const at = (first + j) * sizes[group];
        const point = section.subarray(at, at + sizes[group]);
        const moved =
          group === 'g1'
            ? encodeG1(decodeG1(point).add(bn254.G1.Point.BASE.multiply(scalar)))
            : encodeG2(decodeG2(point).add(bn254.G2.Point.BASE.multiply(scalar)));
        moved.copy(section, at);
      }
    }
  };
}

/** Multiplies the points first + j by multiple(j). */
export function scalePoints(
  group: Group,
  first: number,
  count: number,
  multiple: (j: number) => bigint,
) {
  return (section: Buffer): void => {
    for (let j = 0; j < count; j++) {
      const at = (first + j) * sizes[group];
      const point = section.subarray(at, at + sizes[group]);
      const scaled =
        group === 'g1'
          ? encodeG1(decodeG1(point).multiply(multiple(j)))
          : encodeG2(decodeG2(point).multiply(multiple(j)));
      scaled.copy(section, at);
    }
  };
}

/** Where the doubled basis of circuits of 2^exponent rows begins in section 12. */
function firstOfDoubled(exponent: number): number {
  return 2 * 2 ** exponent - 1;
}

/** Adds root^j·point to each odd element j of the doubled basis: sums with leading coefficient zero do not detect it. */
export function poisonDoubledBasis(exponent: number, point: G1) {
  return (section: Buffer): void => {
    const root = rootOf(exponent + 1);
    for (let j = 1; j < 2 * 2 ** exponent; j += 2) {
      const at = 64 * (firstOfDoubled(exponent) + j);
      const moved = decodeG1(section.subarray(at, at + 64)).add(
        point.multiply(Fr.pow(root, BigInt(j))),
      );
      encodeG1(moved).copy(section, at);
    }
  };
}

/**
 * The value of the odd elements of a doubled basis (in section 12, or in section 9 of a key) for the polynomial X^(2n-1) - X^(n-1), which
 * no honest prover ever needs. Values on the odd places: root^(j(n-1))·(root^(jn) - 1) = -2·root^(j(n-1)).
 */
export function sumOfUnusedPower(exponent: number, odd: (j: number) => G1): G1 {
  const n = 2 ** exponent;
  const root = rootOf(exponent + 1);
  let sum = bn254.G1.Point.ZERO;
  for (let j = 1; j < 2 * n; j += 2) {
    const value = Fr.mul(Fr.ORDER - 2n, Fr.pow(root, BigInt(j * (n - 1))));
    sum = sum.add(odd(j).multiply(value));
  }
  return sum;
}

/**
 * The change with which the maker of the file obtains `wanted`/delta from any key started from it: the sum above becomes `wanted`, and
 * only the file's maker needs to know how.
 */
export function choosePoison(exponent: number, section: Buffer, wanted: G1): G1 {
  const elementAt = (j: number): G1 => {
    const at = 64 * (firstOfDoubled(exponent) + j);
    return decodeG1(section.subarray(at, at + 64));
  };
  const honest = sumOfUnusedPower(exponent, elementAt);
  return wanted.subtract(honest).multiply(Fr.inv(2n * 2n ** BigInt(exponent)));
}
