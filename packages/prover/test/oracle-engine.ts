/** A slow and plain engine on BigInt and noble-curves, independent of the real engines. For tests only. */
import { pippenger } from '@noble/curves/abstract/curve.js';
import { bn254 } from '@noble/curves/bn254.js';
import { scalarFieldOrder as R, readInteger } from '../src/base/field.ts';
import type { G1Affine, G2Affine } from '../src/base/points.ts';
import { decodeG1, decodeG2 } from '../src/base/points.ts';
import type { Engine, ProofSums } from '../src/engine/engine.ts';
import type { PointSection, Zkey } from '../src/zkey/zkey.ts';

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % R;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % R;
    square = (square * square) % R;
  }
  return result;
}

function invert(value: bigint): bigint {
  return power(value, R - 2n);
}

/** 5 is the smallest quadratic non-residue. */
function rootOfUnity(size: number): bigint {
  return power(5n, (R - 1n) / BigInt(size));
}

/** Values of the polynomial with these coefficients at the powers of `root`. */
function transform(values: readonly bigint[], root: bigint): bigint[] {
  if (values.length === 1) return [...values];
  const half = values.length / 2;
  const square = (root * root) % R;
  const even = transform(
    values.filter((_, i) => i % 2 === 0),
    square,
  );
  const odd = transform(
    values.filter((_, i) => i % 2 === 1),
    square,
  );
  const result = new Array<bigint>(values.length);
  let twiddle = 1n;
  for (let i = 0; i < half; i++) {
    const [a, b] = [even[i]!, (odd[i]! * twiddle) % R];
    result[i] = (a + b) % R;
    result[i + half] = (a - b + R) % R;
    twiddle = (twiddle * root) % R;
  }
  return result;
}

/** From values on the domain to values on its odd coset. */
function toOddCoset(rows: readonly bigint[]): bigint[] {
  const size = rows.length;
  const root = rootOfUnity(size);
  const coset = rootOfUnity(2 * size);
  const scale = invert(BigInt(size));
  const coefficients = transform(rows, invert(root)).map((value) => (value * scale) % R);
  return transform(
    coefficients.map((value, i) => (value * power(coset, BigInt(i))) % R),
    root,
  );
}

const montgomerySquaredInverse = invert((1n << 512n) % R);

async function computeQuotient(zkey: Zkey, wires: readonly bigint[]): Promise<bigint[]> {
  const { matrix, row, wire, value, values } = await zkey.readCoefficients();
  const products = [0, 1].map(() => new Array<bigint>(zkey.header.domainSize).fill(0n));
  for (const [k, index] of value.entries()) {
    const factor = readInteger(values, 32 * index) * montgomerySquaredInverse;
    const rows = products[matrix[k]!]!;
    rows[row[k]!] = (rows[row[k]!]! + factor * wires[wire[k]!]!) % R;
  }
  const [a, b] = products as [bigint[], bigint[]];
  const c = a.map((value, i) => (value * b[i]!) % R);
  const [x, y, z] = [a, b, c].map(toOddCoset) as [bigint[], bigint[], bigint[]];
  return x.map((value, i) => (((value * y[i]! - z[i]!) % R) + R) % R);
}

function sumG1(points: readonly G1Affine[], scalars: readonly bigint[]): G1Affine {
  const { Point } = bn254.G1;
  const all = points.map((point) => (point === undefined ? Point.ZERO : Point.fromAffine(point)));
  const sum = pippenger(Point, all, scalars.slice(0, all.length));
  return sum.is0() ? undefined : sum.toAffine();
}

function sumG2(points: readonly G2Affine[], scalars: readonly bigint[]): G2Affine {
  const { Point } = bn254.G2;
  const all = points.map((point) => {
    if (point === undefined) return Point.ZERO;
    const [x, y] = [point.x, point.y].map(([c0, c1]) => ({ c0, c1 }));
    return Point.fromAffine({ x: x!, y: y! });
  });
  const sum = pippenger(Point, all, scalars.slice(0, all.length));
  if (sum.is0()) return undefined;
  const { x, y } = sum.toAffine();
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
}

async function readG1(zkey: Zkey, section: PointSection): Promise<G1Affine[]> {
  const count = zkey.countPoints(section);
  const bytes = new Uint8Array(64 * count);
  await zkey.readPoints(section, 0, count, bytes);
  return Array.from({ length: count }, (_, i) => decodeG1(bytes, 64 * i));
}

async function readG2(zkey: Zkey, section: PointSection): Promise<G2Affine[]> {
  const count = zkey.countPoints(section);
  const bytes = new Uint8Array(128 * count);
  await zkey.readPoints(section, 0, count, bytes);
  return Array.from({ length: count }, (_, i) => decodeG2(bytes.subarray(128 * i, 128 * i + 128)));
}

/** The memory that the oracle reports for a key. */
export const oracleKeyBytes = 1_000;

export type OracleOptions = {
  readonly kind?: Engine['kind'];
  /** Changes the sums before they are returned. May throw. */
  readonly change?: (sums: ProofSums, call: number) => ProofSums | Promise<ProofSums>;
};

export type OracleEngine = Engine & {
  readonly counts: { loads: number; releases: number; closes: number; calls: number };
};

export function createOracleEngine(options: OracleOptions = {}): OracleEngine {
  const counts = { loads: 0, releases: 0, closes: 0, calls: 0 };
  return {
    kind: options.kind ?? 'cpu',
    detail: `oracle ${options.kind ?? 'cpu'}`,
    counts,
    estimateBytes: () => oracleKeyBytes,
    load: async (zkey) => {
      counts.loads += 1;
      const [a, b1, c, h] = [
        await readG1(zkey, 'a'),
        await readG1(zkey, 'b1'),
        await readG1(zkey, 'c'),
        await readG1(zkey, 'h'),
      ];
      const b2 = await readG2(zkey, 'b2');
      const { header } = zkey;
      const coefficients = await zkey.readCoefficients();
      const held: Zkey = { ...zkey, readCoefficients: () => Promise.resolve(coefficients) };
      return {
        bytes: oracleKeyBytes,
        release: () => {
          counts.releases += 1;
        },
        computeSums: async (witness, { onProgress, signal } = {}) => {
          counts.calls += 1;
          const wires = Array.from({ length: header.wires }, (_, i) =>
            readInteger(witness, 32 * i),
          );
          const quotient = await computeQuotient(held, wires);
          onProgress?.('quotient', 1);
          signal?.throwIfAborted();
          const sums = {
            a: sumG1(a, wires),
            b1: sumG1(b1, wires),
            b2: sumG2(b2, wires),
            c: sumG1([...c, ...h], [...wires.slice(header.publicSignals + 1), ...quotient]),
          };
          onProgress?.('sums', 1);
          return (await options.change?.(sums, counts.calls)) ?? sums;
        },
      };
    },
    close: () => {
      counts.closes += 1;
      return Promise.resolve();
    },
  };
}
