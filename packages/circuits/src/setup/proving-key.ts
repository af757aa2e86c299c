/**
 * The dev setup as a whole: from a constraint system and five trapdoor values to a proving key, part by part (protocol §9).
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import {
  decodeInteger,
  encodeIntegers,
  type Kernels,
  scalarBytes,
  type ZkeyCoefficients,
  type ZkeyHeaderFields,
  type ZkeyPointSection,
  zkeyPointBytes,
} from '@pool/kernels';
import {
  computeDomainSize,
  listKeyCoefficients,
  type R1cs,
  type R1csMatrix,
} from '../constraints/r1cs.ts';
import type { ToxicValues } from './toxic-values.ts';

// From constraints to the scalars of a Groth16 key: the wires' polynomials at tau, by the Lagrange basis (Groth 2016, section 3.2;
// layout of the rows and of the H section as snarkjs expects them).

/** Scalars of the key's points, to be multiplied by the generators: 32 bytes little-endian each, below r. */
type KeyScalars = {
  /** A_i(tau), one for each wire. */
  readonly a: Uint8Array;
  /** B_i(tau), one for each wire; in G1 and in G2. */
  readonly b: Uint8Array;
  /** (beta A_i + alpha B_i + C_i)(tau) / gamma for wire 0 and the public wires. */
  readonly publicWires: Uint8Array;
  /** (beta A_i + alpha B_i + C_i)(tau) / delta for the other wires. */
  readonly privateWires: Uint8Array;
  /** Odd elements of the Lagrange basis of the doubled domain at tau, / delta. */
  readonly h: Uint8Array;
};

type KeyScalarsOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

type ScalarKernels = Pick<Kernels, 'computeLagrangeBasis' | 'multiplyColumns' | 'combineScalars'>;

const { Fr } = bn254.fields;

/**
 * Adds one more row "public wire * 0 = 0" for each public wire and the constant to the sums of A: it makes their A polynomials
 * linearly independent of the rest, without which a proof could be shifted to other public inputs.
 */
function addPublicRows(a: Uint8Array, basis: Uint8Array, r1cs: R1cs): void {
  const sums = Array.from({ length: r1cs.publicSignals + 1 }, (_, wire) =>
    Fr.add(decodeInteger(a, wire), decodeInteger(basis, r1cs.constraints + wire)),
  );
  a.set(encodeIntegers(sums));
}

/**
 * Computes all scalars of the key.
 * @throws the signal's reason; KernelsError `out_of_memory`
 */
async function computeKeyScalars(
  kernels: ScalarKernels,
  r1cs: R1cs,
  toxic: ToxicValues,
  { signal, onProgress }: KeyScalarsOptions = {},
): Promise<KeyScalars> {
  const { alpha, beta } = toxic;
  const size = computeDomainSize(r1cs);
  const deltaInverse = Fr.inv(toxic.delta);
  const basis = await kernels.computeLagrangeBasis({ size, point: toxic.tau }, { signal });
  onProgress?.(0.1);
  const values = encodeIntegers(r1cs.coefficients);
  const evaluate = (matrix: R1csMatrix): Promise<Uint8Array> =>
    kernels.multiplyColumns(
      {
        rowStart: matrix.rowStart,
        column: matrix.wire,
        value: matrix.coefficient,
        values,
        columns: r1cs.wires,
      },
      basis,
      { signal },
    );
  const a = await evaluate(r1cs.a);
  onProgress?.(0.4);
  const b = await evaluate(r1cs.b);
  onProgress?.(0.7);
  const c = await evaluate(r1cs.c);
  onProgress?.(0.8);
  addPublicRows(a, basis, r1cs);

  const gammaInverse = Fr.inv(toxic.gamma);
  const publicWires = Array.from({ length: r1cs.publicSignals + 1 }, (_, wire) => {
    const [ofA, ofB, ofC] = [a, b, c].map((sums) => decodeInteger(sums, wire));
    const sum = beta * (ofA ?? 0n) + alpha * (ofB ?? 0n) + (ofC ?? 0n);
    return Fr.mul(Fr.create(sum), gammaInverse);
  });
  const combined = await kernels.combineScalars(
    [
      { factor: Fr.mul(beta, deltaInverse), scalars: a },
      { factor: Fr.mul(alpha, deltaInverse), scalars: b },
      { factor: deltaInverse, scalars: c },
    ],
    { signal },
  );
  onProgress?.(0.9);
  const h = await kernels.computeLagrangeBasis(
    { size, point: toxic.tau, factor: deltaInverse, odd: true },
    { signal },
  );
  onProgress?.(1);
  return {
    a,
    b,
    publicWires: encodeIntegers(publicWires),
    privateWires: combined.subarray((r1cs.publicSignals + 1) * scalarBytes),
    h,
  };
}

/** The parts of a key, in the order of its file. A part is no longer needed when the next one is requested. */
export type KeyPart =
  | { readonly type: 'header'; readonly header: ZkeyHeaderFields }
  | { readonly type: 'coefficients'; readonly coefficients: ZkeyCoefficients }
  | { readonly type: 'points'; readonly section: ZkeyPointSection; readonly points: Uint8Array }
  | { readonly type: 'contributions'; readonly circuitHash: Uint8Array };

/** In order; `coefficients` is the listing of the matrices, `scalars` the arithmetic on them. */
type KeyPhase = 'coefficients' | 'scalars' | ZkeyPointSection;

export type ProvingKeyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction of the whole, 0..1, not decreasing */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /**
   * The hash of the initial key in section 10, 64 bytes. snarkjs compares it when it checks a ceremony's transcript, and
   * a dev key has none: zero unless a test sets it.
   */
  readonly circuitHash?: Uint8Array | undefined;
};

type KeyKernels = ScalarKernels & Pick<Kernels, 'multiplyGenerator'>;

/** The cost of the phases: a point of G1 is one, a point of G2 two, a term of the matrices a twentieth and a tenth. */
function weighPhases(r1cs: R1cs): ReadonlyMap<KeyPhase, number> {
  const terms = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.c.wire.length;
  const { wires } = r1cs;
  return new Map<KeyPhase, number>([
    ['coefficients', terms / 20],
    ['scalars', terms / 10],
    ['ic', 1],
    ['h', computeDomainSize(r1cs)],
    ['c', wires],
    ['a', wires],
    ['b1', wires],
    ['b2', 2 * wires],
  ]);
}

/** Turns fractions of phases into fractions of the whole. A phase begins when the previous one has ended. */
function createPhases(r1cs: R1cs, { onProgress }: ProvingKeyOptions) {
  const weights = weighPhases(r1cs);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return (phase: KeyPhase) => {
    const weight = weights.get(phase) ?? 0;
    const start = before;
    before += weight;
    const report = (fraction: number): void => {
      onProgress?.(Math.min(1, (start + fraction * weight) / total));
    };
    report(0);
    return report;
  };
}

async function computeHeader(
  kernels: KeyKernels,
  r1cs: R1cs,
  { alpha, beta, gamma, delta }: ToxicValues,
): Promise<ZkeyHeaderFields> {
  const fixed1 = await kernels.multiplyGenerator('g1', encodeIntegers([alpha, beta, delta]));
  const fixed2 = await kernels.multiplyGenerator('g2', encodeIntegers([beta, gamma, delta]));
  const point = (points: Uint8Array, size: number, index: number) =>
    points.slice(index * size, (index + 1) * size);
  const g1 = (index: number) => point(fixed1, zkeyPointBytes.g1, index);
  const g2 = (index: number) => point(fixed2, zkeyPointBytes.g2, index);
  return {
    wires: r1cs.wires,
    publicSignals: r1cs.publicSignals,
    domainSize: computeDomainSize(r1cs),
    alpha1: g1(0),
    beta1: g1(1),
    delta1: g1(2),
    beta2: g2(0),
    gamma2: g2(1),
    delta2: g2(2),
  };
}

/**
 * Computes a proving key. Deterministic. All arithmetic runs on the threads of the kernels; no more than one part of the key and the
 * scalars of the others are in memory.
 * @throws the signal's reason; KernelsError
 */
export async function* computeProvingKey(
  kernels: KeyKernels,
  r1cs: R1cs,
  toxic: ToxicValues,
  options: ProvingKeyOptions = {},
): AsyncGenerator<KeyPart> {
  const { signal, circuitHash = new Uint8Array(64) } = options;
  const begin = createPhases(r1cs, options);
  signal?.throwIfAborted();
  begin('coefficients');
  yield { type: 'header', header: await computeHeader(kernels, r1cs, toxic) };
  yield { type: 'coefficients', coefficients: listKeyCoefficients(r1cs) };
  signal?.throwIfAborted();
  const scalars = await computeKeyScalars(kernels, r1cs, toxic, {
    signal,
    onProgress: begin('scalars'),
  });
  const sections: readonly (readonly [ZkeyPointSection, 'g1' | 'g2', Uint8Array])[] = [
    ['ic', 'g1', scalars.publicWires],
    ['h', 'g1', scalars.h],
    ['c', 'g1', scalars.privateWires],
    ['a', 'g1', scalars.a],
    ['b1', 'g1', scalars.b],
    ['b2', 'g2', scalars.b],
  ];
  for (const [section, group, factors] of sections) {
    const onProgress = begin(section);
    const points = await kernels.multiplyGenerator(group, factors, { signal, onProgress });
    yield { type: 'points', section, points };
  }
  yield { type: 'contributions', circuitHash };
}
