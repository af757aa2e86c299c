/**
 * A powers-of-tau file for snarkjs from values we know: what snarkjs derives from it can be compared with what our setup computes
 * directly.
 */
import { bn254 } from '@noble/curves/bn254.js';
import { R } from './fund-batch.ts';

const Q = bn254.fields.Fp.ORDER;

export type Powers = { readonly tau: bigint; readonly alpha: bigint; readonly beta: bigint };

function coordinate(value: bigint): Buffer {
  const hex = ((value << 256n) % Q).toString(16).padStart(64, '0');
  return Buffer.from(hex, 'hex').reverse();
}

function pointG1(scalar: bigint): Buffer {
  if (scalar === 0n) return Buffer.alloc(64);
  const { x, y } = bn254.G1.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([coordinate(x), coordinate(y)]);
}

function pointG2(scalar: bigint): Buffer {
  if (scalar === 0n) return Buffer.alloc(128);
  const { x, y } = bn254.G2.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map(coordinate));
}

function power(base: bigint, exponent: bigint): bigint {
  return bn254.fields.Fr.pow(base, exponent);
}

/** Lagrange basis at tau over the size-th roots of unity, by its product formula (slow, and unlike the setup's). */
function lagrange(tau: bigint, size: number): bigint[] {
  const { Fr } = bn254.fields;
  const root = power(5n, (R - 1n) / BigInt(size));
  const domain = Array.from({ length: size }, (_, i) => power(root, BigInt(i)));
  return domain.map((own) =>
    domain
      .filter((other) => other !== own)
      .reduce(
        (product, other) => Fr.mul(product, Fr.div(Fr.sub(tau, other), Fr.sub(own, other))),
        1n,
      ),
  );
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** The same basis by its closed form, for sizes at which the product takes too long: root^j (tau^n - 1) / (n (tau - root^j)). */
function lagrangeOfLarge(tau: bigint, size: number): bigint[] {
  const { Fr } = bn254.fields;
  const domain = powersOf(power(5n, (R - 1n) / BigInt(size)), size);
  const inverses = Fr.invertBatch(domain.map((root) => Fr.mul(BigInt(size), Fr.sub(tau, root))));
  const vanishing = Fr.sub(power(tau, BigInt(size)), 1n);
  return domain.map((root, j) => Fr.mul(Fr.mul(root, vanishing), inverses[j] ?? 0n));
}

/** base^0, base^1, … */
function powersOf(base: bigint, count: number): bigint[] {
  const powers = [1n];
  while (powers.length < count) {
    powers.push(((powers.at(-1) ?? 0n) * base) % R);
  }
  return powers;
}

type Section = {
  readonly id: number;
  readonly group: 'g1' | 'g2';
  readonly scalars: readonly bigint[];
};

/** The multiples of the generators in each section. */
function describeSections(
  { tau, alpha, beta }: Powers,
  exponent: number,
  basisOf: (tau: bigint, size: number) => bigint[],
): Section[] {
  const size = 2 ** exponent;
  const powers = powersOf(tau, 2 * size - 1);
  const low = powers.slice(0, size);
  const all = Array.from({ length: exponent + 2 }, (_, k) => basisOf(tau, 2 ** k)).flat();
  const small = all.slice(0, 2 * size - 1);
  const scale = (values: readonly bigint[], factor: bigint) =>
    values.map((value) => (value * factor) % R);
  return [
    { id: 2, group: 'g1', scalars: powers },
    { id: 3, group: 'g2', scalars: low },
    { id: 4, group: 'g1', scalars: scale(low, alpha) },
    { id: 5, group: 'g1', scalars: scale(low, beta) },
    { id: 6, group: 'g2', scalars: [beta] },
    { id: 12, group: 'g1', scalars: all },
    { id: 13, group: 'g2', scalars: small },
    { id: 14, group: 'g1', scalars: scale(small, alpha) },
    { id: 15, group: 'g1', scalars: scale(small, beta) },
  ];
}

function encodeFile(exponent: number, points: readonly (readonly [number, Uint8Array])[]) {
  const order = Buffer.from(Q.toString(16).padStart(64, '0'), 'hex').reverse();
  const header = Buffer.concat([uint32(32), order, uint32(exponent), uint32(exponent)]);
  const sections: (readonly [number, Uint8Array])[] = [[1, header], ...points, [7, uint32(0)]];
  const parts: Uint8Array[] = [Buffer.from('ptau', 'latin1'), uint32(1), uint32(sections.length)];
  for (const [id, body] of sections) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(body.length));
    parts.push(uint32(id), length, body);
  }
  return Buffer.concat(parts);
}

/** Points by noble-curves alone. @param exponent circuits of up to 2^exponent rows */
export function createPowersOfTau(powers: Powers, exponent: number): Buffer {
  return encodeFile(
    exponent,
    describeSections(powers, exponent, lagrange).map(({ id, group, scalars }) => [
      id,
      Buffer.concat(scalars.map(group === 'g1' ? pointG1 : pointG2)),
    ]),
  );
}

/** The same with points by a faster arithmetic. @param multiply multiples of a generator, encoded as in files */
export async function createLargePowersOfTau(
  powers: Powers,
  exponent: number,
  multiply: (group: 'g1' | 'g2', scalars: Uint8Array) => Promise<Uint8Array>,
): Promise<Buffer> {
  const points: [number, Uint8Array][] = [];
  for (const { id, group, scalars } of describeSections(powers, exponent, lagrangeOfLarge)) {
    const bytes = Buffer.concat(
      scalars.map((s) => Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()),
    );
    points.push([id, await multiply(group, bytes)]);
  }
  return encodeFile(exponent, points);
}
