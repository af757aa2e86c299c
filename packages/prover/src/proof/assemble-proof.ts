/**
 * Assembles a Groth16 proof from the sums of an engine, c with h: A = α + Σa + rδ, B = β + Σb + sδ, C = Σc + Σh + sA + r(β + Σb) with B's sum in
 * G1. The random r and s make the proof independent of the witness (J. Groth, "On the size of pairing-based non-interactive
 * arguments", EUROCRYPT 2016, eprint 2016/260, §3.2).
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { readInteger } from '../base/field.ts';
import {
  decodeG1,
  decodeG2,
  type G1Affine,
  type G2Affine,
  toG1Json,
  toG2Json,
} from '../base/points.ts';
import type { Groth16Proof } from '../base/prover.ts';
import type { ProofSums } from '../engine/engine.ts';

type G1Point = typeof bn254.G1.Point.BASE;
type G2Point = typeof bn254.G2.Point.BASE;

/** The fixed points that blind a proof, in the encoding of a proving key. */
export type BlindingPoints = {
  readonly alpha1: Uint8Array;
  readonly beta1: Uint8Array;
  readonly beta2: Uint8Array;
  readonly delta1: Uint8Array;
  readonly delta2: Uint8Array;
};

function toG1(point: G1Affine): G1Point {
  return point === undefined ? bn254.G1.Point.ZERO : bn254.G1.Point.fromAffine(point);
}

function toG2(point: G2Affine): G2Point {
  return point === undefined
    ? bn254.G2.Point.ZERO
    : bn254.G2.Point.fromAffine({
        x: { c0: point.x[0], c1: point.x[1] },
        y: { c0: point.y[0], c1: point.y[1] },
      });
}

/**
 * @param sums - secret
 * @param r, s - uniformly random below the scalar field order, not zero, never used twice. Secret.
 */
export function assembleProof(
  sums: ProofSums,
  points: BlindingPoints,
  r: bigint,
  s: bigint,
): Groth16Proof {
  const delta1 = toG1(decodeG1(points.delta1));
  const delta2 = toG2(decodeG2(points.delta2));
  const b1 = toG1(decodeG1(points.beta1)).add(toG1(sums.b1));
  const a = toG1(decodeG1(points.alpha1)).add(toG1(sums.a)).add(delta1.multiply(r));
  const b = toG2(decodeG2(points.beta2)).add(toG2(sums.b2)).add(delta2.multiply(s));
  // Here B's sum is not blinded yet: r(β + Σb) = r B₁ - r s δ.
  const c = toG1(sums.c)
    .add(a.multiply(s))
    .add(b1.is0() ? b1 : b1.multiply(r));
  const { x, y } = b.toAffine();
  return {
    pi_a: toG1Json(a.toAffine()),
    pi_b: toG2Json({ x: [x.c0, x.c1], y: [y.c0, y.c1] }),
    pi_c: toG1Json(c.toAffine()),
    protocol: 'groth16',
    curve: 'bn128',
  };
}

/** The public signals of a witness: its wires 1 to `count`, as decimal strings. */
export function readPublicSignals(witness: Uint8Array, count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(readInteger(witness, 32 * (i + 1))));
}
