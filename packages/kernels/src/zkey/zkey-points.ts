/**
 * Points of a proving key in the encoding of its file, and the verification key that they make, in the JSON shape that snarkjs
 * writes and reads. A coordinate in a file is its value times 2^256 mod q, 32 bytes little-endian. G1 is x, y and G2 is x.c0, x.c1,
 * y.c0, y.c1. All zeros is the point at infinity.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { areBelowOrder, decodeIntegers, encodeIntegers } from '../runtime/integers.ts';
import { type ZkeyHeaderFields, zkeyPointBytes } from './zkey-format.ts';

type Group = keyof typeof zkeyPointBytes;
const { Fp, Fp2 } = bn254.fields;
const montgomery = Fp.create(1n << 256n);
const montgomeryInverse = Fp.inv(montgomery);
const twist = bn254.G2.Point.CURVE().b;

/** All coordinates of points, plain, 0..q-1 (`findInvalidPoint` detects a coordinate that is not below q). */
export function decodeCoordinates(bytes: Uint8Array): bigint[] {
  return decodeIntegers(bytes).map((value) => Fp.mul(value, montgomeryInverse));
}

export function encodeCoordinates(coordinates: readonly bigint[]): Uint8Array {
  return encodeIntegers(coordinates.map((value) => Fp.mul(value, montgomery)));
}

/** y² = x³ + 3 over F_q, or y² = x³ + 3 / (9 + i) over F_q². */
function isOnCurve(group: Group, point: Uint8Array): boolean {
  const [a = 0n, b = 0n, c = 0n, d = 0n] = decodeCoordinates(point);
  if (group === 'g1') return Fp.eql(Fp.sqr(b), Fp.add(Fp.mul(Fp.sqr(a), a), 3n));
  const [x, y] = [
    { c0: a, c1: b },
    { c0: c, c1: d },
  ];
  return Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), twist));
}

/**
 * The index of the first point that is not a canonical point of the curve; undefined if all are. In G1 this check is sufficient,
 * because every point of the curve belongs to the group; in G2 it is not.
 *
 * @param infinity - whether points may be at infinity
 */
export function findInvalidPoint(
  group: Group,
  points: Uint8Array,
  infinity: 'allowed' | 'refused',
): number | undefined {
  const size = zkeyPointBytes[group];
  for (let start = 0; start < points.length; start += size) {
    const point = points.subarray(start, start + size);
    const isValid = point.every((byte) => byte === 0)
      ? infinity === 'allowed'
      : areBelowOrder('base', point) && isOnCurve(group, point);
    if (!isValid) return start / size;
  }
  return undefined;
}

/** Affine G1 point [x, y, "1"], decimal strings. */
export type G1Json = readonly [string, string, string];
/** Affine G2 point [[x0, x1], [y0, y1], ["1", "0"]], decimal strings; x = x0 + x1 i. */
export type G2Json = readonly [
  readonly [string, string],
  readonly [string, string],
  readonly [string, string],
];

/** Public. `IC` holds one point for the constant and one for each public signal, in their order. */
export type VerificationKey = {
  readonly protocol: 'groth16';
  readonly curve: 'bn128';
  readonly nPublic: number;
  readonly vk_alpha_1: G1Json;
  readonly vk_beta_2: G2Json;
  readonly vk_gamma_2: G2Json;
  readonly vk_delta_2: G2Json;
  readonly IC: readonly G1Json[];
};

function toG1Json(point: Uint8Array): G1Json {
  const [x, y] = decodeCoordinates(point).map(String);
  return [x ?? '', y ?? '', '1'];
}

function toG2Json(point: Uint8Array): G2Json {
  const [a = '', b = '', c = '', d = ''] = decodeCoordinates(point).map(String);
  return [
    [a, b],
    [c, d],
    ['1', '0'],
  ];
}

/**
 * The verification key that belongs to a proving key.
 *
 * @param ic - the points of the constant and the public wires, as a key stores them
 */
export function toVerificationKey(header: ZkeyHeaderFields, ic: Uint8Array): VerificationKey {
  return {
    protocol: 'groth16',
    curve: 'bn128',
    nPublic: header.publicSignals,
    vk_alpha_1: toG1Json(header.alpha1),
    vk_beta_2: toG2Json(header.beta2),
    vk_gamma_2: toG2Json(header.gamma2),
    vk_delta_2: toG2Json(header.delta2),
    IC: Array.from({ length: header.publicSignals + 1 }, (_, i) =>
      toG1Json(ic.subarray(i * zkeyPointBytes.g1, (i + 1) * zkeyPointBytes.g1)),
    ),
  };
}

/** An element of F_q^12 as snarkjs writes it: two of three of two decimal strings. */
type PairingJson = readonly (readonly (readonly [string, string])[])[];

/** A verification key as snarkjs exports it. It has e(alpha, beta) too, for verifiers that do not pair again. */
export type ExportedVerificationKey = VerificationKey & { readonly vk_alphabeta_12: PairingJson };

/** Adds e(alpha, beta), in snarkjs' order of fields. The points of the key must be on their curves. */
export function toExportedVerificationKey({
  IC,
  ...key
}: VerificationKey): ExportedVerificationKey {
  const toFp2 = ([c0, c1]: readonly [string, string]) => ({ c0: BigInt(c0), c1: BigInt(c1) });
  const [ax, ay] = key.vk_alpha_1;
  const [bx, by] = key.vk_beta_2;
  const alpha = bn254.G1.Point.fromAffine({ x: BigInt(ax), y: BigInt(ay) });
  const beta = bn254.G2.Point.fromAffine({ x: toFp2(bx), y: toFp2(by) });
  const { c0, c1 } = bn254.pairing(alpha, beta);
  const alphaBeta = [c0, c1].map((half) =>
    [half.c0, half.c1, half.c2].map((part) => [String(part.c0), String(part.c1)] as const),
  );
  return { ...key, vk_alphabeta_12: alphaBeta, IC };
}

const keyParts = ['nPublic', 'vk_alpha_1', 'vk_beta_2', 'vk_gamma_2', 'vk_delta_2', 'IC'] as const;

/** Whether two verification keys have the same points in the same spelling. */
export function isSameVerificationKey(left: VerificationKey, right: VerificationKey): boolean {
  return keyParts.every((part) => JSON.stringify(left[part]) === JSON.stringify(right[part]));
}
