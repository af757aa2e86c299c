/**
 * WGSL of the group law on y^2 = x^3 + b in XYZZ coordinates: x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; infinity is ZZ = 0. Formulas
 * madd-2008-s, add-2008-s and dbl-2008-s-1 of the Explicit-Formulas Database, with every exceptional case handled: equal points,
 * opposite points, infinity on either side. `b` does not occur in them.
 *
 * @module
 */
export const pointsWgsl = `
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

// The common steps of additions and doublings. Both points get a common denominator: (x, y, zz, zzz) is the first, dx and dy
// are the differences to the second. A doubling has dx = 2 y and dy = 3 x^2 instead, and no second x to subtract.
fn sum_finish(a: Sum, dx: F, dy: F, is_doubling: bool) -> Sum {
  let pp = f_sqr(dx);
  let ppp = f_mul(dx, pp);
  let q = f_mul(a.x, pp);
  let x = f_sub(f_sub(f_sqr(dy), f_select(ppp, f_zero(), is_doubling)), f_dbl(q));
  let y = f_sub(f_mul(dy, f_sub(q, x)), f_mul(a.y, ppp));
  return Sum(x, y, f_mul(a.zz, pp), f_mul(a.zzz, ppp));
}
fn triple_square(x: F) -> F {
  let square = f_sqr(x);
  return f_add(f_dbl(square), square);
}

fn sum_double(a: Sum) -> Sum { return sum_finish(a, f_dbl(a.y), triple_square(a.x), true); }

// p is not infinity.
fn sum_add_affine(a: Sum, p: Affine) -> Sum {
  if (sum_is_zero(a)) { return sum_of_affine(p); }
  var dx = f_sub(f_mul(p.x, a.zz), a.x);
  var dy = f_sub(f_mul(p.y, a.zzz), a.y);
  let is_same_x = f_is_zero(dx);
  let is_doubling = is_same_x && f_is_zero(dy);
  if (is_same_x && !is_doubling) { return sum_zero(); }
  if (is_doubling) {
    dx = f_dbl(a.y);
    dy = triple_square(a.x);
  }
  return sum_finish(a, dx, dy, is_doubling);
}

fn sum_add(a: Sum, b: Sum) -> Sum {
  if (sum_is_zero(a)) { return b; }
  if (sum_is_zero(b)) { return a; }
  var first = Sum(f_mul(a.x, b.zz), f_mul(a.y, b.zzz), f_mul(a.zz, b.zz), f_mul(a.zzz, b.zzz));
  var dx = f_sub(f_mul(b.x, a.zz), first.x);
  var dy = f_sub(f_mul(b.y, a.zzz), first.y);
  let is_same_x = f_is_zero(dx);
  let is_doubling = is_same_x && f_is_zero(dy);
  if (is_same_x && !is_doubling) { return sum_zero(); }
  if (is_doubling) {
    first = a;
    dx = f_dbl(a.y);
    dy = triple_square(a.x);
  }
  return sum_finish(first, dx, dy, is_doubling);
}
`;
