/**
 * The dev setup as a whole: from a constraint system and five trapdoor values to a proving key in either form, and its verification
 * key (protocol §9).
 *
 * @module
 */
import {
  encodeZkeyCoefficients,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  measureZkeyCoefficients,
  ZKEY_POINT_BYTES,
  ZKEY_SECTION,
  type ZkeyCoefficients,
  type ZkeyForm,
  type ZkeyHeaderFields,
} from '@pool/kernels';
import { BASE_FIELD_ORDER } from '../field.ts';
import { invert } from '../modular.ts';
import type { R1cs } from '../r1cs.ts';
import type { G1Json, G2Json, VerificationKey } from '../verification-key.ts';
import { listKeyCoefficients } from './key-coefficients.ts';
import { computeKeyScalars } from './qap.ts';
import { decodeScalar, ELEMENT_BYTES, encodeScalars } from './scalars.ts';
import type { ToxicValues } from './toxic-values.ts';

export type ProvingKeyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /**
   * What section 10 names as the hash of the initial key, 64 bytes. snarkjs compares it when it checks a ceremony's transcript, and
   * a dev key has none: zero unless a test says otherwise.
   */
  readonly circuitHash?: Uint8Array | undefined;
};

/** The part of the kernels that the setup needs: multiples of a generator, as a key stores points. */
export type GeneratorMultiplier = {
  readonly multiplyGenerator: (
    group: 'g1' | 'g2',
    scalars: Uint8Array,
    options?: {
      readonly signal?: AbortSignal | undefined;
      readonly onProgress?: ((fraction: number) => void) | undefined;
    },
  ) => Promise<Uint8Array>;
};

/** Points one after the other, coordinates times 2^256 mod q, 32 bytes little-endian each; all zeros is the point at infinity. */
export type KeyPoints = Readonly<Record<'ic' | 'h' | 'c' | 'a' | 'b1' | 'b2', Uint8Array>>;

export type ProvingKey = {
  readonly header: ZkeyHeaderFields;
  readonly coefficients: ZkeyCoefficients;
  readonly points: KeyPoints;
  readonly circuitHash: Uint8Array;
};

const MONTGOMERY_INVERSE = invert((1n << 256n) % BASE_FIELD_ORDER, BASE_FIELD_ORDER);

/** Coordinate number `index` of an encoded point, as a decimal string. */
const readCoordinate = (point: Uint8Array, index: number): string =>
  String((decodeScalar(point, index) * MONTGOMERY_INVERSE) % BASE_FIELD_ORDER);

const toG1Json = (point: Uint8Array): G1Json => [
  readCoordinate(point, 0),
  readCoordinate(point, 1),
  '1',
];

const toG2Json = (point: Uint8Array): G2Json => [
  [readCoordinate(point, 0), readCoordinate(point, 1)],
  [readCoordinate(point, 2), readCoordinate(point, 3)],
  ['1', '0'],
];

/** The verification key of a proving key. */
export const exportVerificationKey = ({ header, points }: ProvingKey): VerificationKey => ({
  protocol: 'groth16',
  curve: 'bn128',
  nPublic: header.publicSignals,
  vk_alpha_1: toG1Json(header.alpha1),
  vk_beta_2: toG2Json(header.beta2),
  vk_gamma_2: toG2Json(header.gamma2),
  vk_delta_2: toG2Json(header.delta2),
  IC: Array.from({ length: header.publicSignals + 1 }, (_, i) =>
    toG1Json(points.ic.subarray(i * ZKEY_POINT_BYTES.g1, (i + 1) * ZKEY_POINT_BYTES.g1)),
  ),
});

/**
 * Computes a proving key. Deterministic. The curve work runs on all cores of the kernels.
 * @throws the signal's reason
 */
export const computeProvingKey = async (
  kernels: GeneratorMultiplier,
  r1cs: R1cs,
  toxic: ToxicValues,
  options: ProvingKeyOptions = {},
): Promise<ProvingKey> => {
  const { signal, onProgress, circuitHash = new Uint8Array(64) } = options;
  const scalars = computeKeyScalars(r1cs, toxic);
  signal?.throwIfAborted();

  // A point of G2 costs about three of G1.
  const weights = { g1: 1, g2: 3 };
  const wires = r1cs.wires * ELEMENT_BYTES;
  const total = 3 * wires + scalars.h.length + weights.g2 * wires;
  let done = 0;
  const multiply = async (group: 'g1' | 'g2', factors: Uint8Array): Promise<Uint8Array> => {
    const share = weights[group] * factors.length;
    const points = await kernels.multiplyGenerator(group, factors, {
      signal,
      onProgress: (fraction) => onProgress?.(Math.min(1, (done + fraction * share) / total)),
    });
    done += share;
    return points;
  };
  const fixed1 = await multiply('g1', encodeScalars([toxic.alpha, toxic.beta, toxic.delta]));
  const fixed2 = await multiply('g2', encodeScalars([toxic.beta, toxic.gamma, toxic.delta]));
  const g1 = (index: number) =>
    fixed1.slice(index * ZKEY_POINT_BYTES.g1, (index + 1) * ZKEY_POINT_BYTES.g1);
  const g2 = (index: number) =>
    fixed2.slice(index * ZKEY_POINT_BYTES.g2, (index + 1) * ZKEY_POINT_BYTES.g2);
  return {
    header: {
      wires: r1cs.wires,
      publicSignals: r1cs.publicSignals,
      domainSize: scalars.domainSize,
      alpha1: g1(0),
      beta1: g1(1),
      delta1: g1(2),
      beta2: g2(0),
      gamma2: g2(1),
      delta2: g2(2),
    },
    points: {
      ic: await multiply('g1', scalars.publicWires),
      h: await multiply('g1', scalars.h),
      c: await multiply('g1', scalars.privateWires),
      a: await multiply('g1', scalars.a),
      b1: await multiply('g1', scalars.b),
      b2: await multiply('g2', scalars.b),
    },
    coefficients: listKeyCoefficients(r1cs),
    circuitHash,
  };
};

const encodeUint32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
};

/** The bytes of a key file, piece by piece, its sections in the order in which snarkjs writes them. */
export function* serializeProvingKey(
  key: ProvingKey,
  form: ZkeyForm = 'standard',
): Generator<Uint8Array> {
  const { points, coefficients } = key;
  const { ic, h, c, a, b1, b2 } = ZKEY_SECTION;
  yield encodeZkeyStart(form, 10);
  const section = function* (id: number, ...parts: Uint8Array[]): Generator<Uint8Array> {
    yield encodeZkeySectionHead(
      id,
      parts.reduce((sum, part) => sum + part.length, 0),
    );
    yield* parts;
  };
  yield* section(ZKEY_SECTION.protocol, encodeUint32(1));
  yield* section(ZKEY_SECTION.header, encodeZkeyHeader(key.header));
  yield encodeZkeySectionHead(
    ZKEY_SECTION.coefficients,
    measureZkeyCoefficients(form, coefficients),
  );
  yield* encodeZkeyCoefficients(form, coefficients);
  yield* section(ic, points.ic);
  yield* section(h, points.h);
  yield* section(c, points.c);
  yield* section(a, points.a);
  yield* section(b1, points.b1);
  yield* section(b2, points.b2);
  yield* section(ZKEY_SECTION.contributions, key.circuitHash, encodeUint32(0));
}
