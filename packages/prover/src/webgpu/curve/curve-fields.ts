/**
 * WGSL of the coordinates of points: the base field for G1, its quadratic extension (i^2 = -1) for G2, behind one set of names, so
 * that the curve's formulas are written once. `F` is the type; `f_zero f_one f_is_zero f_equal f_add f_sub f_neg f_dbl f_mul f_sqr
 * f_inv f_enter f_select`.
 *
 * @module
 */
import { generateField, wordsPrelude } from '../field/field.ts';
import type { LimbLayout } from '../field/limbs.ts';

export type Group = 'g1' | 'g2';

/** vec4<u32> of one coordinate. */
export function coordinateVectors(group: Group): number {
  return group === 'g1' ? 2 : 4;
}
/** Bytes of an affine point: x, y. */
export function affineBytes(group: Group): number {
  return 32 * coordinateVectors(group);
}
/** Bytes of a sum: X, Y, ZZ, ZZZ. */
export function sumBytes(group: Group): number {
  return 64 * coordinateVectors(group);
}

const firstGroup = `
alias F = U256;
fn f_zero() -> F { return fq_zero(); }
fn f_one() -> F { return fq_one(); }
fn f_is_zero(a: F) -> bool { return u256_is_zero(a); }
fn f_select(a: F, b: F, take_b: bool) -> F { return u256_select(a, b, take_b); }
fn f_add(a: F, b: F) -> F { return fq_add(a, b); }
fn f_sub(a: F, b: F) -> F { return fq_sub(a, b); }
fn f_neg(a: F) -> F { return fq_neg(a); }
fn f_dbl(a: F) -> F { return fq_dbl(a); }
fn f_mul(a: F, b: F) -> F { return fq_mul(a, b); }
fn f_sqr(a: F) -> F { return fq_sqr(a); }
fn f_inv(a: F) -> F { return fq_inv(a); }
fn f_enter(a: F) -> F { return fq_enter_256(a); }
fn f_from_vectors(v: array<vec4<u32>, 2>) -> F {
  return U256(v[0].x, v[0].y, v[0].z, v[0].w, v[1].x, v[1].y, v[1].z, v[1].w);
}
fn f_to_vectors(a: F) -> array<vec4<u32>, 2> {
  return array<vec4<u32>, 2>(vec4<u32>(a[0], a[1], a[2], a[3]), vec4<u32>(a[4], a[5], a[6], a[7]));
}
`;

// The loops keep one multiplication in the code instead of three: a third of the instructions to compile and to fetch.
const secondGroup = `
struct F {
  re: U256,
  im: U256,
}
fn f_zero() -> F { return F(fq_zero(), fq_zero()); }
fn f_one() -> F { return F(fq_one(), fq_zero()); }
fn f_is_zero(a: F) -> bool { return u256_is_zero(a.re) && u256_is_zero(a.im); }
fn f_select(a: F, b: F, take_b: bool) -> F {
  return F(u256_select(a.re, b.re, take_b), u256_select(a.im, b.im, take_b));
}
fn f_add(a: F, b: F) -> F { return F(fq_add(a.re, b.re), fq_add(a.im, b.im)); }
fn f_sub(a: F, b: F) -> F { return F(fq_sub(a.re, b.re), fq_sub(a.im, b.im)); }
fn f_neg(a: F) -> F { return F(fq_neg(a.re), fq_neg(a.im)); }
fn f_dbl(a: F) -> F { return F(fq_dbl(a.re), fq_dbl(a.im)); }
// Karatsuba: re = a b - c d, im = (a + c)(b + d) - a b - c d.
fn f_mul(a: F, b: F) -> F {
  var x = a.re;
  var y = b.re;
  var re = fq_zero();
  var im = fq_zero();
  for (var k = 0u; k < 3u; k++) {
    let product = fq_mul(x, y);
    if (k == 0u) {
      re = product;
      im = fq_neg(product);
      x = a.im;
      y = b.im;
    } else if (k == 1u) {
      re = fq_sub(re, product);
      im = fq_sub(im, product);
      x = fq_add(a.re, a.im);
      y = fq_add(b.re, b.im);
    } else {
      im = fq_add(im, product);
    }
  }
  return F(re, im);
}
// re = (a + c)(a - c), im = 2 a c.
fn f_sqr(a: F) -> F {
  var x = fq_add(a.re, a.im);
  var y = fq_sub(a.re, a.im);
  var re = fq_zero();
  var im = fq_zero();
  for (var k = 0u; k < 2u; k++) {
    let product = fq_mul(x, y);
    if (k == 0u) {
      re = product;
      x = a.re;
      y = a.im;
    } else {
      im = fq_dbl(product);
    }
  }
  return F(re, im);
}
// 1 / (a + c i) = (a - c i) / (a^2 + c^2).
fn f_inv(a: F) -> F {
  let norm = fq_inv(fq_add(fq_sqr(a.re), fq_sqr(a.im)));
  return F(fq_mul(a.re, norm), fq_neg(fq_mul(a.im, norm)));
}
fn f_enter(a: F) -> F { return F(fq_enter_256(a.re), fq_enter_256(a.im)); }
fn f_from_vectors(v: array<vec4<u32>, 4>) -> F {
  return F(
    U256(v[0].x, v[0].y, v[0].z, v[0].w, v[1].x, v[1].y, v[1].z, v[1].w),
    U256(v[2].x, v[2].y, v[2].z, v[2].w, v[3].x, v[3].y, v[3].z, v[3].w),
  );
}
fn f_to_vectors(a: F) -> array<vec4<u32>, 4> {
  return array<vec4<u32>, 4>(
    vec4<u32>(a.re[0], a.re[1], a.re[2], a.re[3]),
    vec4<u32>(a.re[4], a.re[5], a.re[6], a.re[7]),
    vec4<u32>(a.im[0], a.im[1], a.im[2], a.im[3]),
    vec4<u32>(a.im[4], a.im[5], a.im[6], a.im[7]),
  );
}
`;

/** The field and the coordinates over it. */
export function generateCoordinates(group: Group, layout: LimbLayout): string {
  return wordsPrelude + generateField('fq', layout) + (group === 'g1' ? firstGroup : secondGroup);
}

/**
 * Functions that read and write coordinates, affine points and sums in a buffer of vec4<u32>: `<buffer>_affine(i)`, `<buffer>_sum(i)`,
 * `<buffer>_store_affine(i, p)`, `<buffer>_store_sum(i, s)`; the last two if the buffer can be written.
 */
export function generateAccess(
  group: Group,
  buffer: string,
  access: 'read' | 'read_write',
): string {
  const vectors = coordinateVectors(group);
  const range = Array.from({ length: vectors }, (_, k) => k);
  const load = `fn ${buffer}_coordinate(at: u32) -> F {
  return f_from_vectors(array<vec4<u32>, ${vectors}>(${range.map((k) => `${buffer}[at + ${k}u]`).join(', ')}));
}
fn ${buffer}_affine(index: u32) -> Affine {
  let at = index * ${2 * vectors}u;
  return Affine(${buffer}_coordinate(at), ${buffer}_coordinate(at + ${vectors}u));
}
fn ${buffer}_sum(index: u32) -> Sum {
  let at = index * ${4 * vectors}u;
  return Sum(${[0, 1, 2, 3].map((k) => `${buffer}_coordinate(at + ${k * vectors}u)`).join(', ')});
}
`;
  if (access === 'read') return load;
  return `${load}fn ${buffer}_store_coordinate(at: u32, value: F) {
  let vectors = f_to_vectors(value);
  ${range.map((k) => `${buffer}[at + ${k}u] = vectors[${k}];`).join('\n  ')}
}
fn ${buffer}_store_affine(index: u32, point: Affine) {
  let at = index * ${2 * vectors}u;
  ${buffer}_store_coordinate(at, point.x);
  ${buffer}_store_coordinate(at + ${vectors}u, point.y);
}
fn ${buffer}_store_sum(index: u32, sum: Sum) {
  let at = index * ${4 * vectors}u;
  ${['x', 'y', 'zz', 'zzz'].map((name, k) => `${buffer}_store_coordinate(at + ${k * vectors}u, sum.${name});`).join('\n  ')}
}
`;
}
