/**
 * The last steps of a multi-scalar multiplication on BigInt: a few hundred doublings and additions of points.
 *
 * Formulas in Jacobian coordinates (x = X/Z², y = Y/Z³) from the Explicit-Formulas Database: dbl-2009-l and add-2007-bl.
 *
 * @module
 */
import { baseFieldOrder } from '../runtime/field-orders.ts';
import { components, type Group, zkeyPointSize } from './groups.ts';

const zkeyRadix = (1n << 256n) % baseFieldOrder;

function reduce(value: bigint): bigint {
  const rest = value % baseFieldOrder;
  return rest < 0n ? rest + baseFieldOrder : rest;
}

function invert(value: bigint): bigint {
  let [a, b, x, y] = [reduce(value), baseFieldOrder, 1n, 0n];
  while (a > 1n) {
    const quotient = b / a;
    [a, b, x, y] = [b - quotient * a, a, y - quotient * x, x];
  }
  return reduce(x);
}

/** A coordinate c0 + c1·u with u² = -1. In G1, c1 is 0. */
type Fp2 = readonly [bigint, bigint];
type Jacobian = { readonly x: Fp2; readonly y: Fp2; readonly z: Fp2 };

function add2(a: Fp2, b: Fp2): Fp2 {
  return [a[0] + b[0], a[1] + b[1]];
}
function sub2(a: Fp2, b: Fp2): Fp2 {
  return [a[0] - b[0], a[1] - b[1]];
}
function scale2(a: Fp2, factor: bigint): Fp2 {
  return [a[0] * factor, a[1] * factor];
}
function mul2(a: Fp2, b: Fp2): Fp2 {
  return a[1] === 0n && b[1] === 0n
    ? [reduce(a[0] * b[0]), 0n]
    : [reduce(a[0] * b[0] - a[1] * b[1]), reduce(a[0] * b[1] + a[1] * b[0])];
}
function isZero2(a: Fp2): boolean {
  return reduce(a[0]) === 0n && reduce(a[1]) === 0n;
}

const infinity: Jacobian = { x: [1n, 0n], y: [1n, 0n], z: [0n, 0n] };

function double({ x, y, z }: Jacobian): Jacobian {
  const a = mul2(x, x);
  const b = mul2(y, y);
  const c = mul2(b, b);
  const t = add2(x, b);
  const d = scale2(sub2(sub2(mul2(t, t), a), c), 2n);
  const e = scale2(a, 3n);
  const x3 = sub2(mul2(e, e), scale2(d, 2n));
  return {
    x: x3.map(reduce) as unknown as Fp2,
    y: sub2(mul2(e, sub2(d, x3)), scale2(c, 8n)),
    z: scale2(mul2(y, z), 2n),
  };
}

function add(p: Jacobian, q: Jacobian): Jacobian {
  if (isZero2(p.z)) return q;
  if (isZero2(q.z)) return p;
  const [z1z1, z2z2] = [mul2(p.z, p.z), mul2(q.z, q.z)];
  const [u1, u2] = [mul2(p.x, z2z2), mul2(q.x, z1z1)];
  const [s1, s2] = [mul2(p.y, mul2(q.z, z2z2)), mul2(q.y, mul2(p.z, z1z1))];
  const h = sub2(u2, u1);
  const rise = sub2(s2, s1);
  if (isZero2(h)) return isZero2(rise) ? double(p) : infinity;
  const i = mul2(scale2(h, 2n), scale2(h, 2n));
  const j = mul2(h, i);
  const r = scale2(rise, 2n);
  const v = mul2(u1, i);
  const x = sub2(sub2(mul2(r, r), j), scale2(v, 2n));
  return {
    x,
    y: sub2(mul2(r, sub2(v, x)), scale2(mul2(s1, j), 2n)),
    z: mul2(scale2(mul2(p.z, q.z), 2n), h),
  };
}

/** Reads 32 bytes little-endian and makes no copy other than the number. */
function readInteger(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32);
  return [24, 16, 8, 0].reduce((sum, at) => (sum << 64n) | view.getBigUint64(at, true), 0n);
}

/** Canonical little-endian coordinates. Zeros mean infinity. */
function readPoint(group: Group, bytes: Uint8Array): Jacobian {
  const numbers = Array.from({ length: bytes.length / 32 }, (_, index) =>
    readInteger(bytes.subarray(32 * index, 32 * index + 32)),
  );
  if (numbers.every((number) => number === 0n)) return infinity;
  const [a = 0n, b = 0n, c = 0n, d = 0n] = numbers;
  return group === 'g1'
    ? { x: [a, 0n], y: [b, 0n], z: [1n, 0n] }
    : { x: [a, b], y: [c, d], z: [1n, 0n] };
}

function writePoint(group: Group, { x, y, z }: Jacobian): Uint8Array {
  const output = new Uint8Array(zkeyPointSize[group]);
  if (isZero2(z)) return output;
  const norm = invert(z[0] * z[0] + z[1] * z[1]);
  const inverse: Fp2 = [reduce(z[0] * norm), reduce(-z[1] * norm)];
  const square = mul2(inverse, inverse);
  const coordinates = [mul2(x, square), mul2(y, mul2(square, inverse))];
  coordinates
    .flatMap((coordinate) => coordinate.slice(0, components[group]))
    .forEach((value, index) => {
      const hex = reduce(value * zkeyRadix)
        .toString(16)
        .padStart(64, '0');
      output.set(Buffer.from(hex, 'hex').reverse(), 32 * index);
    });
  return output;
}

/**
 * The sum of 2^weight·point over the terms.
 * @param terms - points as canonical little-endian coordinates, zeros for infinity
 * @returns the point in the proving key's format, zeros for infinity
 */
export function sumWeighted(
  group: Group,
  terms: ReadonlyArray<{ readonly weight: number; readonly bytes: Uint8Array }>,
): Uint8Array {
  const byWeight = new Map<number, Jacobian>();
  for (const { weight, bytes } of terms) {
    byWeight.set(weight, add(byWeight.get(weight) ?? infinity, readPoint(group, bytes)));
  }
  let result = infinity;
  for (let weight = Math.max(0, ...byWeight.keys()); weight >= 0; weight--) {
    result = add(double(result), byWeight.get(weight) ?? infinity);
  }
  return writePoint(group, result);
}
