/**
 * Sums returned by the device, on the host: from X, Y, ZZ, ZZZ in the device's Montgomery form to affine coordinates, and
 * the last few additions over the groups of digits (windows.ts).
 *
 * @module
 */
import { invert } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { baseFieldOrder } from '../../base/field.ts';
import type { G1Affine, G2Affine } from '../../base/points.ts';
import { decodeElements } from '../device/elements.ts';
import type { LimbLayout } from '../field/limbs.ts';
import { type Group, sumBytes } from './curve-fields.ts';

const { Fp2 } = bn254.fields;
const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
type G1Point = typeof G1.ZERO;
type G2Point = typeof G2.ZERO;

/** The operations that the points of both groups have. */
type Addable<T> = { readonly add: (other: T) => T; readonly double: () => T };

/** sum over g of 2^(bits g) sums[g]. */
function combineGroups<T extends Addable<T>>(sums: readonly T[], bits: number, zero: T): T {
  let total = zero;
  for (const sum of sums.toReversed()) {
    for (let k = 0; k < bits; k++) total = total.double();
    total = total.add(sum);
  }
  return total;
}

/** Coordinates of all sums, out of Montgomery form. */
function leaveMontgomery(bytes: Uint8Array, layout: LimbLayout): readonly bigint[] {
  const inverse = invert(1n << BigInt(layout.radixBits), baseFieldOrder);
  return decodeElements(bytes).map((value) => (value * inverse) % baseFieldOrder);
}

function decodeG1([x = 0n, y = 0n, zz = 0n, zzz = 0n]: readonly bigint[]): G1Point {
  if (zz === 0n) return G1.ZERO;
  return G1.fromAffine({
    x: (x * invert(zz, baseFieldOrder)) % baseFieldOrder,
    y: (y * invert(zzz, baseFieldOrder)) % baseFieldOrder,
  });
}

function decodeG2(words: readonly bigint[]): G2Point {
  const [x, y, zz, zzz] = [0, 2, 4, 6].map((k) =>
    Fp2.create({ c0: words[k] ?? 0n, c1: words[k + 1] ?? 0n }),
  );
  if (x === undefined || y === undefined || zz === undefined || zzz === undefined || Fp2.is0(zz)) {
    return G2.ZERO;
  }
  return G2.fromAffine({ x: Fp2.div(x, zz), y: Fp2.div(y, zzz) });
}

/** Cuts a list into runs of equal length. */
function runs(values: readonly bigint[], length: number): readonly (readonly bigint[])[] {
  return Array.from({ length: values.length / length }, (_, k) =>
    values.slice(k * length, (k + 1) * length),
  );
}

/** The result of one multi-scalar multiplication: for each part of its points the sums of its groups. */
export type PartResult = { readonly groups: number; readonly bits: number };

function decodeParts<T extends Addable<T>>(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  group: Group,
  decode: (part: Uint8Array) => readonly T[],
  zero: T,
): T {
  let offset = 0;
  let total = zero;
  for (const part of parts) {
    const length = part.groups * sumBytes(group);
    total = total.add(
      combineGroups(decode(bytes.subarray(offset, offset + length)), part.bits, zero),
    );
    offset += length;
  }
  return total;
}

/** @throws Error (of the curve library) if the device returned something that is not a point */
export function decodeG1Result(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  layout: LimbLayout,
): G1Affine {
  const decode = (part: Uint8Array) => runs(leaveMontgomery(part, layout), 4).map(decodeG1);
  const total = decodeParts(bytes, parts, 'g1', decode, G1.ZERO);
  return total.is0() ? undefined : total.toAffine();
}

/** @throws Error (of the curve library) if the device returned something that is not a point */
export function decodeG2Result(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  layout: LimbLayout,
): G2Affine {
  const decode = (part: Uint8Array) => runs(leaveMontgomery(part, layout), 8).map(decodeG2);
  const total = decodeParts(bytes, parts, 'g2', decode, G2.ZERO);
  if (total.is0()) return undefined;
  const { x, y } = total.toAffine();
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
}
