/**
 * Groth16 verification (J. Groth, EUROCRYPT 2016, eprint 2016/260, §3.2) on @noble/curves. It is independent of the engines
 * that make the proofs, and it is the only place that checks that points are on the curve and in the right subgroup.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { baseFieldOrder, scalarFieldOrder } from '../base/field.ts';
import type { Groth16Proof } from '../base/prover.ts';

type G1Point = typeof bn254.G1.Point.BASE;
type G2Point = typeof bn254.G2.Point.BASE;

/** A canonical decimal integer below `limit`. A value + limit would be a second encoding of the same field element. */
function parseDecimal(text: unknown, limit: bigint): bigint {
  if (typeof text !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(text) || BigInt(text) >= limit) {
    throw new RangeError('not a field element');
  }
  return BigInt(text);
}

function parseCoordinate(text: unknown): bigint {
  return parseDecimal(text, baseFieldOrder);
}

/** On the curve, in the subgroup of order r, and not at infinity (no honest proof or key has a point at infinity). */
function assertUsable(point: G1Point | G2Point): void {
  if (point.is0()) {
    throw new RangeError('the point at infinity');
  }
  point.assertValidity();
}

function parseG1([x, y, z]: G1Json): G1Point {
  if (z !== '1') {
    throw new RangeError('not an affine point');
  }
  const point = bn254.G1.Point.fromAffine({ x: parseCoordinate(x), y: parseCoordinate(y) });
  assertUsable(point);
  return point;
}

function parseG2([x, y, z]: G2Json): G2Point {
  if (z[0] !== '1' || z[1] !== '0') {
    throw new RangeError('not an affine point');
  }
  const point = bn254.G2.Point.fromAffine({
    x: { c0: parseCoordinate(x[0]), c1: parseCoordinate(x[1]) },
    y: { c0: parseCoordinate(y[0]), c1: parseCoordinate(y[1]) },
  });
  assertUsable(point);
  return point;
}

/** Undefined if parsing throws: malformed data from another party means invalid. */
function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** A parsed verification key, with the computations that every verification under it shares. */
type PreparedKey = {
  readonly constant: G1Point;
  readonly bases: readonly G1Point[];
  /** Lines of the Miller loops over gamma and delta, and the result of the loop over (alpha, beta). */
  readonly gamma: MillerLines;
  readonly delta: MillerLines;
  readonly alphaBeta: Fp12;
};
type MillerLines = ReturnType<typeof bn254.utils.calcPairingPrecomputes>;
type Fp12 = ReturnType<typeof bn254.millerLoopBatch>;

const { Fp12 } = bn254.fields;

function malformedKey(): ProverError {
  return new ProverError(
    'verification_key_malformed',
    'The verification key is not a Groth16 key over BN254.',
  );
}

function prepareKey(verificationKey: VerificationKey): PreparedKey {
  const parsed = attempt(() => ({
    alpha: parseG1(verificationKey.vk_alpha_1),
    beta: parseG2(verificationKey.vk_beta_2),
    gamma: parseG2(verificationKey.vk_gamma_2),
    delta: parseG2(verificationKey.vk_delta_2),
    ic: verificationKey.IC.map(parseG1),
  }));
  const [constant, ...bases] = parsed?.ic ?? [];
  if (
    parsed === undefined ||
    constant === undefined ||
    verificationKey.protocol !== 'groth16' ||
    verificationKey.curve !== 'bn128' ||
    bases.length !== verificationKey.nPublic
  ) {
    throw malformedKey();
  }
  return {
    constant,
    bases,
    gamma: bn254.utils.calcPairingPrecomputes(parsed.gamma),
    delta: bn254.utils.calcPairingPrecomputes(parsed.delta),
    alphaBeta: bn254.pairing(parsed.alpha, parsed.beta, false),
  };
}

/** The last keys, by their text: checking a key takes as long as a verification. */
const prepared = new Map<string, PreparedKey>();
const maximumPrepared = 16;

function findPrepared(verificationKey: VerificationKey): PreparedKey {
  const text = attempt(() => JSON.stringify(verificationKey));
  if (text === undefined) {
    // Without its own text, a key would share the cache entry of another.
    throw malformedKey();
  }
  const key = prepared.get(text) ?? prepareKey(verificationKey);
  prepared.delete(text);
  prepared.set(text, key);
  for (const oldest of prepared.keys()) {
    if (prepared.size <= maximumPrepared) {
      break;
    }
    prepared.delete(oldest);
  }
  return key;
}

/**
 * Does now what verifications under this key share.
 * @throws ProverError `verification_key_malformed`
 */
export function prepareVerification(verificationKey: VerificationKey): void {
  findPrepared(verificationKey);
}

/**
 * Checks e(A, B) = e(alpha, beta) e(IC(x), gamma) e(C, delta). It blocks this thread for some tens of milliseconds.
 * @returns false for any proof or public signal that is malformed, out of range or wrong
 * @throws ProverError `verification_key_malformed`
 */
export function verifyProof(
  verificationKey: VerificationKey,
  publicSignals: readonly string[],
  proof: Groth16Proof,
): boolean {
  const { constant, bases, gamma, delta, alphaBeta } = findPrepared(verificationKey);
  const given = attempt(() => ({
    a: parseG1(proof.pi_a),
    b: parseG2(proof.pi_b),
    c: parseG1(proof.pi_c),
    signals: publicSignals.map((signal) => parseDecimal(signal, scalarFieldOrder)),
  }));
  if (given === undefined || given.signals.length !== bases.length) {
    return false;
  }
  const inputs = bases.reduce((sum, base, i) => {
    const signal = given.signals[i] ?? 0n;
    return signal === 0n ? sum : sum.add(base.multiplyUnsafe(signal));
  }, constant);
  if (inputs.is0()) {
    return false;
  }
  const a = given.a.negate().toAffine();
  const x = inputs.toAffine();
  const c = given.c.toAffine();
  const loops = bn254.millerLoopBatch([
    [bn254.utils.calcPairingPrecomputes(given.b), a.x, a.y],
    [gamma, x.x, x.y],
    [delta, c.x, c.y],
  ]);
  return Fp12.eql(Fp12.finalExponentiate(Fp12.mul(loops, alphaBeta)), Fp12.ONE);
}
