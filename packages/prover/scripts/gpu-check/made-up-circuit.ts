/**
 * A generated circuit of any size, with a key and a valid witness: a machine can time whole proofs with it
 * without a copied key. Half of the rows constrain a wire to be a bit, the others multiply two wires: zeros, ones and full values
 * in the proportion that circuits of hashes have.
 *
 * The trapdoor is in this file: such a key is not secure.
 */

import { bn254 } from '@noble/curves/bn254.js';
import {
  decodeIntegers,
  encodeIntegers,
  type Kernels,
  toVerificationKey,
  type VerificationKey,
  type ZkeyCoefficients,
} from '@pool/kernels';
import type { PointSection, Zkey, ZkeyHeader } from '../../src/zkey/zkey.ts';
import { createRandom } from '../../test/msm-points.ts';

const { Fr } = bn254.fields;
const R = Fr.ORDER;
const publicSignals = 2;
const baseWires = publicSignals + 2;
const trapdoor = { tau: 11n, alpha: 22n, beta: 33n, gamma: 44n, delta: 55n } as const;
/** 0, 1, r-1 in the dictionary of coefficients. */
const values = [1n, R - 1n] as const;

export type MadeUpCircuit = {
  readonly zkey: Zkey;
  /** All wires, 32 bytes each. */
  readonly witness: Uint8Array;
  readonly publicSignals: readonly string[];
  readonly verificationKey: VerificationKey;
};

type Rows = { readonly witness: readonly bigint[]; readonly coefficients: ZkeyCoefficients };

/** `outputs[i]`: the wire that row i makes, in C, or 0 where it is a bit. */
function makeRows(domainSize: number): Rows & { readonly outputs: Uint32Array } {
  const random = createRandom(BigInt(domainSize));
  const rows = domainSize - publicSignals - 1;
  const witness: bigint[] = [1n, random.scalar(), random.scalar(), random.scalar()];
  const outputs = new Uint32Array(rows);
  const entries: number[] = [];
  const add = (matrix: 0 | 1, row: number, wire: number, value: 0 | 1): void => {
    entries.push(matrix, row, wire, value);
  };
  for (let row = 0; row < rows; row++) {
    const made = baseWires + row;
    if (row % 2 === 0) {
      // b (b - 1) = 0
      witness.push(BigInt(random.below(2)));
      add(0, row, made, 0);
      add(1, row, made, 0);
      add(1, row, 0, 1);
      continue;
    }
    // (x + 1) y = z, on full values: those before the row with an odd number.
    const pick = (): number =>
      row < 4 ? 1 + random.below(3) : baseWires + 1 + 2 * random.below((row - 1) >> 1);
    const [x, y] = [pick(), pick()];
    witness.push((((witness[x] ?? 0n) + 1n) * (witness[y] ?? 0n)) % R);
    add(0, row, x, 0);
    add(0, row, 0, 0);
    add(1, row, y, 0);
    outputs[row] = made;
  }
  // As every snarkjs key has it: one row of A for each public wire.
  for (let wire = 0; wire <= publicSignals; wire++) add(0, rows + wire, wire, 0);
  const column = (index: number): number[] => entries.filter((_, k) => k % 4 === index);
  return {
    witness,
    outputs,
    coefficients: {
      matrix: Uint8Array.from(column(0)),
      row: Uint32Array.from(column(1)),
      wire: Uint32Array.from(column(2)),
      value: Uint32Array.from(column(3)),
      values: encodeIntegers(values.map((value) => (value << 512n) % R)),
    },
  };
}

/** The scalars of the key's points, from L_i at tau. */
function computeScalars(
  lagrange: readonly bigint[],
  { coefficients, outputs, witness }: ReturnType<typeof makeRows>,
) {
  const { alpha, beta, gamma, delta } = trapdoor;
  const wires = witness.length;
  const [u, v, w] = [0, 1, 2].map(() => new Array<bigint>(wires).fill(0n)) as [
    bigint[],
    bigint[],
    bigint[],
  ];
  const { matrix, row, wire, value } = coefficients;
  for (let k = 0; k < matrix.length; k++) {
    const sums = matrix[k] === 0 ? u : v;
    const at = wire[k] ?? 0;
    const share = lagrange[row[k] ?? 0] ?? 0n;
    sums[at] = (sums[at] ?? 0n) + (value[k] === 0 ? share : R - share);
  }
  outputs.forEach((made, k) => {
    if (made !== 0) w[made] = lagrange[k] ?? 0n;
  });
  const mixed = u.map((a, k) => beta * a + alpha * (v[k] ?? 0n) + (w[k] ?? 0n));
  const over = (list: readonly bigint[], divisor: bigint): bigint[] => {
    const inverse = Fr.inv(divisor);
    return list.map((part) => Fr.mul(Fr.create(part), inverse));
  };
  return {
    ic: over(mixed.slice(0, publicSignals + 1), gamma),
    c: over(mixed.slice(publicSignals + 1), delta),
    a: u.map((a) => a % R),
    b: v.map((b) => b % R),
  };
}

/** @param domainSize - rows, a power of two from 8 on */
export async function createMadeUpCircuit(
  kernels: Kernels,
  domainSize: number,
): Promise<MadeUpCircuit> {
  const rows = makeRows(domainSize);
  const { tau, alpha, beta, gamma, delta } = trapdoor;
  const basis = { size: domainSize, point: tau };
  const lagrange = await kernels.computeLagrangeBasis(basis);
  const scalars = computeScalars(decodeIntegers(lagrange), rows);
  // snarkjs' quotient is A B - C on the odd coset, and not divided.
  const quotient = { ...basis, factor: Fr.inv(delta), odd: true };
  const g1 = (list: readonly bigint[]) => kernels.multiplyGenerator('g1', encodeIntegers(list));
  const g2 = (list: readonly bigint[]) => kernels.multiplyGenerator('g2', encodeIntegers(list));
  const points: Readonly<Record<PointSection, Uint8Array>> = {
    ic: await g1(scalars.ic),
    a: await g1(scalars.a),
    b1: await g1(scalars.b),
    b2: await g2(scalars.b),
    c: await g1(scalars.c),
    h: await kernels.multiplyGenerator('g1', await kernels.computeLagrangeBasis(quotient)),
  };
  const header: ZkeyHeader = {
    wires: rows.witness.length,
    publicSignals: publicSignals,
    domainSize,
    coefficients: rows.coefficients.matrix.length,
    alpha1: await g1([alpha]),
    beta1: await g1([beta]),
    beta2: await g2([beta]),
    gamma2: await g2([gamma]),
    delta1: await g1([delta]),
    delta2: await g2([delta]),
  };
  const size = (section: PointSection): number => (section === 'b2' ? 128 : 64);
  return {
    witness: encodeIntegers(rows.witness),
    publicSignals: rows.witness.slice(1, publicSignals + 1).map(String),
    zkey: {
      header,
      countPoints: (section) => points[section].length / size(section),
      readPoints: (section, start, count, into) => {
        const bytes = size(section);
        into.set(points[section].subarray(start * bytes, (start + count) * bytes));
        return Promise.resolve();
      },
      readCoefficients: () => Promise.resolve(rows.coefficients),
      close: () => Promise.resolve(),
    },
    verificationKey: toVerificationKey(header, points.ic),
  };
}
