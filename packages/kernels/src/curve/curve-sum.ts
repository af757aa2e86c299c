/**
 * The last steps of a multi-scalar multiplication: a few hundred doublings and additions of points.
 *
 * @module
 */
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bn254 } from '@noble/curves/bn254.js';
import { decodeInteger, encodeIntegers } from '../runtime/integers.ts';
import { zkeyPointBytes } from '../zkey/zkey-format.ts';
import type { Group } from './points.ts';

const { Fp } = bn254.fields;
const zkeyRadix = Fp.create(1n << 256n);

/** A sum of 2^weight·point: points as canonical little-endian coordinates, zeros for infinity. */
type Term = { readonly weight: number; readonly bytes: Uint8Array };

/** The coordinates of an affine sum, or none for infinity. */
function addUp<T>(
  Point: WeierstrassPointCons<T>,
  terms: readonly Term[],
  decode: (numbers: readonly bigint[]) => { readonly x: T; readonly y: T },
): { x: T; y: T } | undefined {
  const byWeight = new Map<number, WeierstrassPoint<T>>();
  for (const { weight, bytes } of terms) {
    if (bytes.every((byte) => byte === 0)) continue;
    const numbers = Array.from({ length: bytes.length / 32 }, (_, at) => decodeInteger(bytes, at));
    const point = Point.fromAffine(decode(numbers));
    byWeight.set(weight, byWeight.get(weight)?.add(point) ?? point);
  }
  let sum = Point.ZERO;
  for (let weight = Math.max(0, ...byWeight.keys()); weight >= 0; weight--) {
    sum = sum.double().add(byWeight.get(weight) ?? Point.ZERO);
  }
  return sum.is0() ? undefined : sum.toAffine();
}

function addInG1(terms: readonly Term[]): readonly bigint[] {
  const sum = addUp(bn254.G1.Point, terms, ([x = 0n, y = 0n]) => ({ x, y }));
  return sum === undefined ? [] : [sum.x, sum.y];
}

function addInG2(terms: readonly Term[]): readonly bigint[] {
  const sum = addUp(bn254.G2.Point, terms, ([a = 0n, b = 0n, c = 0n, d = 0n]) => ({
    x: { c0: a, c1: b },
    y: { c0: c, c1: d },
  }));
  return sum === undefined ? [] : [sum.x.c0, sum.x.c1, sum.y.c0, sum.y.c1];
}

/**
 * The sum of 2^weight·point over the terms.
 * @returns the point in the proving key's format, zeros for infinity
 */
export function sumWeighted(group: Group, terms: readonly Term[]): Uint8Array {
  const coordinates = group === 'g1' ? addInG1(terms) : addInG2(terms);
  const output = new Uint8Array(zkeyPointBytes[group]);
  encodeIntegers(
    coordinates.map((value) => Fp.mul(value, zkeyRadix)),
    output,
  );
  return output;
}
