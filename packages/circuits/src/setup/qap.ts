/**
 * From constraints to the scalars of a Groth16 key: the wires' polynomials at tau, by the Lagrange basis (Groth 2016, section 3.2;
 * layout of the rows and of the H section as snarkjs expects them).
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { decodeInteger, encodeIntegers, type Kernels, scalarBytes } from '@pool/kernels';
import { computeDomainSize, type R1cs, type R1csMatrix } from '../constraints/r1cs.ts';
import type { ToxicValues } from './toxic-values.ts';

/** Scalars of the key's points, to be multiplied by the generators: 32 bytes little-endian each, below r. */
export type KeyScalars = {
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

export type KeyScalarsOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

export type ScalarKernels = Pick<
  Kernels,
  'computeLagrangeBasis' | 'multiplyColumns' | 'combineScalars'
>;

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
export async function computeKeyScalars(
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
