// A module that shows whether relaxed_madd rounds once (a fused multiply-add): engines may also round twice, and then the
// float multiplier would give wrong results.

/** Exports `probe() -> i32`: 1 when the multiply-add is fused. Imports nothing. */
export function writeProbe(): string {
  // (1 + 2^-40)² = 1 + 2^-39 + 2^-80: the last term is lost by two roundings.
  const x = `(f64x2.splat (f64.const ${1 + 2 ** -40}))`;
  const c = `(f64x2.splat (f64.const ${-(1 + 2 ** -39)}))`;
  const sum = `(f64x2.relaxed_madd ${x} ${x} ${c})`;
  const equal = (lane: number): string =>
    `(f64.eq (f64x2.extract_lane ${lane} (local.get $sum)) (f64.const ${2 ** -80}))`;
  return `(module (func (export "probe") (result i32) (local $sum v128)
    (local.set $sum ${sum}) (i32.and ${equal(0)} ${equal(1)})))`;
}
