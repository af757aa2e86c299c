/**
 * A generated circuit of any size, with a key and a valid witness: a machine can time whole proofs with it
 * without a copied key. Half of the rows constrain a wire to be a bit, the others multiply two wires: zeros, ones and full values
 * in the proportion that circuits of hashes have.
 *
 * The trapdoor is in this file: such a key is not secure.
 */

import { invert } from '@noble/curves/abstract/modular.js';
import type { VerificationKey } from '@pool/kernels';
import {
  encodeZkeyCoefficients,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  type Kernels,
  measureZkeyCoefficients,
  type ZkeyCoefficients,
  zkeySection,
} from '@pool/kernels';
import { scalarFieldOrder as R } from '../../src/base/field.ts';
import { decodeG1, decodeG2, toG1Json, toG2Json } from '../../src/base/points.ts';
import { encodeElements } from '../../src/webgpu/device/elements.ts';
import { rootOfUnity } from '../../src/webgpu/quotient/ntt-plan.ts';
import type { PointSection, Zkey, ZkeyHeader } from '../../src/zkey/zkey.ts';
import { createRandom } from '../../test/msm-points.ts';

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
  /** The key as a file of snarkjs' format, piece by piece. */
  readonly serialize: () => Generator<Uint8Array>;
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
      values: encodeElements(values.map((value) => (value << 512n) % R)),
    },
  };
}

/** Montgomery's trick. */
function invertAll(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    product = (product * value) % R;
  }
  let inverse = invert(product, R);
  const inverses = new Array<bigint>(values.length);
  for (let k = values.length - 1; k >= 0; k--) {
    inverses[k] = (inverse * (before[k] ?? 0n)) % R;
    inverse = (inverse * (values[k] ?? 0n)) % R;
  }
  return inverses;
}

/** first, first root, first root^2 … */
function listPowers(first: bigint, root: bigint, count: number): bigint[] {
  const powers: bigint[] = [];
  for (let k = 0, power = first; k < count; k++, power = (power * root) % R) powers.push(power);
  return powers;
}

/**
 * The scalars of the key's points: L_i at tau on the domain, and for h on the odd coset x_i the share that makes snarkjs' quotient,
 * which is A B - C and not divided: x_i (tau^n + 1) (tau^n - 1) / (2 n (tau - x_i) delta).
 */
function computeScalars(
  domainSize: number,
  { coefficients, outputs, witness }: ReturnType<typeof makeRows>,
) {
  const { tau, alpha, beta, gamma, delta } = trapdoor;
  const bits = Math.log2(domainSize);
  const size = BigInt(domainSize);
  let power = tau;
  for (let k = 0; k < bits; k++) power = (power * power) % R;
  const root = rootOfUnity(bits);
  const basis = (first: bigint, factor: bigint): bigint[] => {
    const points = listPowers(first, root, domainSize);
    const inverses = invertAll(points.map((point) => (tau - point + R) % R));
    return points.map((point, k) => (((point * factor) % R) * (inverses[k] ?? 0n)) % R);
  };
  const lagrange = basis(1n, ((power - 1n + R) * invert(size, R)) % R);
  const hFactor = ((((power + 1n) * (power - 1n + R)) % R) * invert(2n * size * delta, R)) % R;
  const h = basis(rootOfUnity(bits + 1), hFactor);

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
    const inverse = invert(divisor, R);
    return list.map((part) => ((part % R) * inverse) % R);
  };
  return {
    ic: over(mixed.slice(0, publicSignals + 1), gamma),
    c: over(mixed.slice(publicSignals + 1), delta),
    a: u.map((a) => a % R),
    b: v.map((b) => b % R),
    h,
  };
}

/** @param domainSize - rows, a power of two from 8 on */
export async function createMadeUpCircuit(
  kernels: Pick<Kernels, 'multiplyGenerator'>,
  domainSize: number,
): Promise<MadeUpCircuit> {
  const rows = makeRows(domainSize);
  const scalars = computeScalars(domainSize, rows);
  const g1 = (list: readonly bigint[]) => kernels.multiplyGenerator('g1', encodeElements(list));
  const g2 = (list: readonly bigint[]) => kernels.multiplyGenerator('g2', encodeElements(list));
  const { alpha, beta, gamma, delta } = trapdoor;
  const points: Readonly<Record<PointSection, Uint8Array>> = {
    ic: await g1(scalars.ic),
    a: await g1(scalars.a),
    b1: await g1(scalars.b),
    b2: await g2(scalars.b),
    c: await g1(scalars.c),
    h: await g1(scalars.h),
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
  const asG1 = (bytes: Uint8Array, start = 0) =>
    toG1Json(decodeG1(bytes, start) ?? { x: 0n, y: 0n });
  const asG2 = (bytes: Uint8Array) => toG2Json(decodeG2(bytes) ?? { x: [0n, 0n], y: [0n, 0n] });
  const size = (section: PointSection): number => (section === 'b2' ? 128 : 64);
  return {
    witness: encodeElements(rows.witness),
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
    verificationKey: {
      protocol: 'groth16',
      curve: 'bn128',
      nPublic: publicSignals,
      vk_alpha_1: asG1(header.alpha1),
      vk_beta_2: asG2(header.beta2),
      vk_gamma_2: asG2(header.gamma2),
      vk_delta_2: asG2(header.delta2),
      IC: scalars.ic.map((_, k) => asG1(points.ic, 64 * k)),
    },
    *serialize() {
      const section = function* (id: number, bytes: Uint8Array): Generator<Uint8Array> {
        yield encodeZkeySectionHead(id, bytes.length);
        yield bytes;
      };
      yield encodeZkeyStart('standard', 10);
      yield* section(zkeySection.protocol, Uint8Array.of(1, 0, 0, 0));
      yield* section(zkeySection.header, encodeZkeyHeader(header));
      const length = measureZkeyCoefficients('standard', rows.coefficients);
      yield encodeZkeySectionHead(zkeySection.coefficients, length);
      yield* encodeZkeyCoefficients('standard', rows.coefficients);
      for (const name of ['ic', 'a', 'b1', 'b2', 'c', 'h'] as const) {
        yield* section(zkeySection[name], points[name]);
      }
      // No contributions: 64 bytes of hash, and their number.
      yield* section(zkeySection.contributions, new Uint8Array(68));
    },
  };
}
