/**
 * From constraints to the scalars of a Groth16 key: the wires' polynomials at tau, by the Lagrange basis (Groth 2016, section 3.2;
 * layout of the rows and of the H section as snarkjs expects them).
 *
 * @module
 */
import { FIELD_ORDER } from '../field.ts';
import { invert, invertAll, power } from '../modular.ts';
import { computeDomainSize, type R1cs, type R1csMatrix } from '../r1cs.ts';
import { encodeScalars } from './scalars.ts';
import type { ToxicValues } from './toxic-values.ts';

const TWO_ADICITY = 28;
/** 5 is the smallest quadratic non-residue mod r; r - 1 = 2^28 * odd. */
const NON_RESIDUE = 5n;

/** Scalars of the key's points, to be multiplied by the generators: 32 bytes little-endian each, below r. */
export type KeyScalars = {
  readonly domainSize: number;
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

/** A primitive root of unity of order `size`, a power of two. The same one that ffjavascript picks. */
const computeRootOfUnity = (size: number): bigint => {
  const generator = power(NON_RESIDUE, (FIELD_ORDER - 1n) >> BigInt(TWO_ADICITY), FIELD_ORDER);
  return power(generator, BigInt(2 ** TWO_ADICITY / size), FIELD_ORDER);
};

/**
 * L_j(tau) over the size-th roots of unity, for j = first, first + step, ...: root^j (tau^size - 1) / (size (tau - root^j)).
 * tau must lie outside the domain.
 */
const computeLagrangeBasis = (tau: bigint, size: number, first: number, step: number): bigint[] => {
  const root = computeRootOfUnity(size);
  const stride = power(root, BigInt(step), FIELD_ORDER);
  const vanishing = power(tau, BigInt(size), FIELD_ORDER) - 1n + FIELD_ORDER;
  const scale = (vanishing * invert(BigInt(size), FIELD_ORDER)) % FIELD_ORDER;
  const roots: bigint[] = [];
  const differences: bigint[] = [];
  let current = power(root, BigInt(first), FIELD_ORDER);
  for (let j = first; j < size; j += step) {
    roots.push(current);
    differences.push((tau - current + FIELD_ORDER) % FIELD_ORDER);
    current = (current * stride) % FIELD_ORDER;
  }
  invertAll(differences, differences.length, FIELD_ORDER);
  return roots.map(
    (value, j) => (((value * (differences[j] ?? 0n)) % FIELD_ORDER) * scale) % FIELD_ORDER,
  );
};

/** Sum over rows of coefficient * basis[row], for each wire. */
const accumulate = (r1cs: R1cs, matrix: R1csMatrix, basis: readonly bigint[]): bigint[] => {
  const sums = new Array<bigint>(r1cs.wires).fill(0n);
  for (let row = 0; row < r1cs.constraints; row++) {
    const weight = basis[row] ?? 0n;
    const end = matrix.rowStart[row + 1] ?? 0;
    for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
      const wire = matrix.wire[term] ?? 0;
      const coefficient = r1cs.coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
      sums[wire] = ((sums[wire] ?? 0n) + coefficient * weight) % FIELD_ORDER;
    }
  }
  return sums;
};

/** Computes all scalars of the key. The order of seconds for 65k rows; pure. */
export const computeKeyScalars = (r1cs: R1cs, toxic: ToxicValues): KeyScalars => {
  const domainSize = computeDomainSize(r1cs);
  const basis = computeLagrangeBasis(toxic.tau, domainSize, 0, 1);
  const a = accumulate(r1cs, r1cs.a, basis);
  const b = accumulate(r1cs, r1cs.b, basis);
  const c = accumulate(r1cs, r1cs.c, basis);
  // One more row "public wire * 0 = 0" for each public wire and the constant: it makes their A polynomials linearly
  // independent of the rest, without which a proof could be shifted to other public inputs.
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
    a[wire] = ((a[wire] ?? 0n) + (basis[r1cs.constraints + wire] ?? 0n)) % FIELD_ORDER;
  }
  const gammaInverse = invert(toxic.gamma, FIELD_ORDER);
  const deltaInverse = invert(toxic.delta, FIELD_ORDER);
  const combined = a.map((value, wire) => {
    const sum = toxic.beta * value + toxic.alpha * (b[wire] ?? 0n) + (c[wire] ?? 0n);
    const divisor = wire <= r1cs.publicSignals ? gammaInverse : deltaInverse;
    return ((sum % FIELD_ORDER) * divisor) % FIELD_ORDER;
  });
  const h = computeLagrangeBasis(toxic.tau, 2 * domainSize, 1, 2).map(
    (value) => (value * deltaInverse) % FIELD_ORDER,
  );
  return {
    domainSize,
    a: encodeScalars(a),
    b: encodeScalars(b),
    publicWires: encodeScalars(combined.slice(0, r1cs.publicSignals + 1)),
    privateWires: encodeScalars(combined.slice(r1cs.publicSignals + 1)),
    h: encodeScalars(h),
  };
};
