/**
 * WGSL of the group law on y^2 = x^3 + b in XYZZ coordinates: x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; infinity is ZZ = 0. Formulas
 * madd-2008-s, add-2008-s and dbl-2008-s-1 of the Explicit-Formulas Database, with every exceptional case handled: equal points,
 * opposite points, infinity on either side. `b` does not occur in them.
 *
 * @module
 */
export const POINTS_WGSL = `
struct Affine {
  x: F,
  y: F,
}
struct Sum {
  x: F,
  y: F,
  zz: F,
  zzz: F,
}
fn sum_zero() -> Sum { return Sum(f_zero(), f_zero(), f_zero(), f_zero()); }
fn sum_is_zero(a: Sum) -> bool { return f_is_zero(a.zz); }
fn sum_of_affine(p: Affine) -> Sum { return Sum(p.x, p.y, f_one(), f_one()); }
fn affine_negate_if(p: Affine, negate: bool) -> Affine {
  return Affine(p.x, f_select(p.y, f_neg(p.y), negate));
}

fn sum_double(a: Sum) -> Sum {
  let u = f_dbl(a.y);
  let v = f_sqr(u);
  let w = f_mul(u, v);
  let s = f_mul(a.x, v);
  let square = f_sqr(a.x);
  let m = f_add(f_dbl(square), square);
  let x = f_sub(f_sqr(m), f_dbl(s));
  let y = f_sub(f_mul(m, f_sub(s, x)), f_mul(w, a.y));
  return Sum(x, y, f_mul(v, a.zz), f_mul(w, a.zzz));
}

// p is not infinity.
fn sum_add_affine(a: Sum, p: Affine) -> Sum {
  if (sum_is_zero(a)) { return sum_of_affine(p); }
  let dx = f_sub(f_mul(p.x, a.zz), a.x);
  let dy = f_sub(f_mul(p.y, a.zzz), a.y);
  if (f_is_zero(dx)) {
    if (f_is_zero(dy)) { return sum_double(a); }
    return sum_zero();
  }
  let pp = f_sqr(dx);
  let ppp = f_mul(dx, pp);
  let q = f_mul(a.x, pp);
  let x = f_sub(f_sub(f_sqr(dy), ppp), f_dbl(q));
  let y = f_sub(f_mul(dy, f_sub(q, x)), f_mul(a.y, ppp));
  return Sum(x, y, f_mul(a.zz, pp), f_mul(a.zzz, ppp));
}

fn sum_add(a: Sum, b: Sum) -> Sum {
  if (sum_is_zero(a)) { return b; }
  if (sum_is_zero(b)) { return a; }
  let ux = f_mul(a.x, b.zz);
  let uy = f_mul(a.y, b.zzz);
  let dx = f_sub(f_mul(b.x, a.zz), ux);
  let dy = f_sub(f_mul(b.y, a.zzz), uy);
  if (f_is_zero(dx)) {
    if (f_is_zero(dy)) { return sum_double(a); }
    return sum_zero();
  }
  let pp = f_sqr(dx);
  let ppp = f_mul(dx, pp);
  let q = f_mul(ux, pp);
  let x = f_sub(f_sub(f_sqr(dy), ppp), f_dbl(q));
  let y = f_sub(f_mul(dy, f_sub(q, x)), f_mul(uy, ppp));
  return Sum(x, y, f_mul(f_mul(a.zz, b.zz), pp), f_mul(f_mul(a.zzz, b.zzz), ppp));
}
`;
