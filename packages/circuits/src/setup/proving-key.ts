/**
 * The dev setup as a whole: from a constraint system and five trapdoor values to a snarkjs-compatible `.zkey` and its
 * verification key (protocol §9).
 *
 * @module
 */
import { BASE_FIELD_ORDER, FIELD_ORDER } from '../field.ts';
import { invert } from '../modular.ts';
import type { R1cs } from '../r1cs.ts';
import type { G1Json, G2Json, VerificationKey } from '../verification-key.ts';
import { computePoints } from './compute-points.ts';
import { pointBytes } from './fixed-base.ts';
import { computeKeyScalars } from './qap.ts';
import type { ToxicValues } from './toxic-values.ts';

export type ProvingKeyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

export type ProvingKey = {
  /** Sections 1..10 of the `.zkey`, in the order in which they are written. */
  readonly sections: readonly ZkeySection[];
  readonly verificationKey: VerificationKey;
};

export type ZkeySection = { readonly id: number; readonly parts: readonly Uint8Array[] };

const MONTGOMERY_SQUARED = (1n << 512n) % FIELD_ORDER;
const WORD = (1n << 64n) - 1n;

const encodeLittleEndian = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(32);
  for (let word = 0; word < 4; word++) {
    bytes.writeBigUInt64LE((value >> BigInt(64 * word)) & WORD, word * 8);
  }
  return bytes;
};

const encodeUint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** Section 4: the terms of A and B, row by row, values times 2^512 mod r; then one term for each public row. */
const encodeCoefficients = (r1cs: R1cs): Buffer => {
  const RECORD = 44;
  const values = r1cs.coefficients.map((value) =>
    encodeLittleEndian((value * MONTGOMERY_SQUARED) % FIELD_ORDER),
  );
  const one = encodeLittleEndian(MONTGOMERY_SQUARED);
  const records = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.publicSignals + 1;
  const bytes = Buffer.alloc(4 + records * RECORD);
  bytes.writeUInt32LE(records);
  let position = 4;
  const push = (matrix: number, row: number, wire: number, value: Buffer) => {
    bytes.writeUInt32LE(matrix, position);
    bytes.writeUInt32LE(row, position + 4);
    bytes.writeUInt32LE(wire, position + 8);
    value.copy(bytes, position + 12);
    position += RECORD;
  };
  for (let row = 0; row < r1cs.constraints; row++) {
    for (const [number, matrix] of [r1cs.a, r1cs.b].entries()) {
      const end = matrix.rowStart[row + 1] ?? 0;
      for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
        push(number, row, matrix.wire[term] ?? 0, values[matrix.coefficient[term] ?? 0] ?? one);
      }
    }
  }
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
    push(0, r1cs.constraints + wire, wire, one);
  }
  return bytes;
};

const MONTGOMERY_INVERSE = invert((1n << 256n) % BASE_FIELD_ORDER, BASE_FIELD_ORDER);

/** Coordinate number `index` of an encoded point, as a decimal string. */
const readCoordinate = (point: Uint8Array, index: number): string => {
  const bytes = Buffer.from(point.slice(index * 32, index * 32 + 32)).reverse();
  return String((BigInt(`0x${bytes.toString('hex')}`) * MONTGOMERY_INVERSE) % BASE_FIELD_ORDER);
};

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

/** Cuts an array of encoded points into runs of the given lengths. */
const split = (points: Uint8Array, size: number, lengths: readonly number[]): Uint8Array[] => {
  let position = 0;
  return lengths.map((length) => {
    const start = position;
    position += length * size;
    return points.subarray(start, position);
  });
};

/**
 * Computes a proving key. Deterministic. Seconds for 65k constraints; the curve work runs on all cores.
 * @param circuitHash what section 10 names as the hash of the initial key; snarkjs compares it when it checks a ceremony's
 *   transcript, and a dev key has none, so it is zero unless a test says otherwise
 */
export const computeProvingKey = async (
  r1cs: R1cs,
  toxic: ToxicValues,
  options: ProvingKeyOptions = {},
  circuitHash: Uint8Array = new Uint8Array(64),
): Promise<ProvingKey> => {
  const scalars = computeKeyScalars(r1cs, toxic);
  options.signal?.throwIfAborted();

  const scalarsG1 = [
    [toxic.alpha, toxic.beta, toxic.delta],
    scalars.publicWires,
    scalars.a,
    scalars.b,
    scalars.privateWires,
    scalars.h,
  ];
  const scalarsG2 = [[toxic.beta, toxic.gamma, toxic.delta], scalars.b];
  const countG1 = scalarsG1.reduce((sum, part) => sum + part.length, 0);
  const countG2 = scalarsG2.reduce((sum, part) => sum + part.length, 0);
  // A point of G2 costs about four of G1.
  const total = countG1 + 4 * countG2;
  const { signal } = options;
  const pointsG1 = await computePoints('G1', scalarsG1.flat(), {
    signal,
    onProgress: (done) => options.onProgress?.(done / total),
  });
  const pointsG2 = await computePoints('G2', scalarsG2.flat(), {
    signal,
    onProgress: (done) => options.onProgress?.((countG1 + 4 * done) / total),
  });

  const [fixedG1, ic, a, b1, c, h] = split(
    pointsG1,
    pointBytes('G1'),
    scalarsG1.map((part) => part.length),
  );
  const [fixedG2, b2] = split(
    pointsG2,
    pointBytes('G2'),
    scalarsG2.map((part) => part.length),
  );
  if (!fixedG1 || !ic || !a || !b1 || !c || !h || !fixedG2 || !b2) {
    throw new RangeError('a run of points is missing');
  }
  const [alpha1, beta1, delta1] = split(fixedG1, pointBytes('G1'), [1, 1, 1]);
  const [beta2, gamma2, delta2] = split(fixedG2, pointBytes('G2'), [1, 1, 1]);
  if (!alpha1 || !beta1 || !delta1 || !beta2 || !gamma2 || !delta2) {
    throw new RangeError('a fixed point is missing');
  }

  const header = [
    encodeUint32(32),
    encodeLittleEndian(BASE_FIELD_ORDER),
    encodeUint32(32),
    encodeLittleEndian(FIELD_ORDER),
    encodeUint32(r1cs.wires),
    encodeUint32(r1cs.publicSignals),
    encodeUint32(scalars.domainSize),
    ...[alpha1, beta1, beta2, gamma2, delta1, delta2],
  ];
  const publicPoints = split(
    ic,
    pointBytes('G1'),
    scalars.publicWires.map(() => 1),
  );
  return {
    sections: [
      { id: 1, parts: [encodeUint32(1)] },
      { id: 2, parts: header },
      { id: 4, parts: [encodeCoefficients(r1cs)] },
      { id: 3, parts: [ic] },
      { id: 9, parts: [h] },
      { id: 8, parts: [c] },
      { id: 5, parts: [a] },
      { id: 6, parts: [b1] },
      { id: 7, parts: [b2] },
      { id: 10, parts: [circuitHash, encodeUint32(0)] },
    ],
    verificationKey: {
      protocol: 'groth16',
      curve: 'bn128',
      nPublic: r1cs.publicSignals,
      vk_alpha_1: toG1Json(alpha1),
      vk_beta_2: toG2Json(beta2),
      vk_gamma_2: toG2Json(gamma2),
      vk_delta_2: toG2Json(delta2),
      IC: publicPoints.map(toG1Json),
    },
  };
};

/** The bytes of a `.zkey` file, piece by piece: magic, version, number of sections, then each with id and length. */
export function* serializeProvingKey(key: ProvingKey): Generator<Uint8Array> {
  yield Buffer.from('zkey', 'latin1');
  yield encodeUint32(1);
  yield encodeUint32(key.sections.length);
  for (const { id, parts } of key.sections) {
    const head = Buffer.alloc(12);
    head.writeUInt32LE(id);
    head.writeBigUInt64LE(BigInt(parts.reduce((sum, part) => sum + part.length, 0)), 4);
    yield head;
    yield* parts;
  }
}
