/**
 * A powers-of-tau file for snarkjs from values we know, made with noble-curves alone: what snarkjs derives from it can be compared
 * with what our setup computes directly.
 */
import { bn254 } from '@noble/curves/bn254.js';
import { R } from './fund-batch.ts';

const Q = bn254.fields.Fp.ORDER;

export type Powers = { readonly tau: bigint; readonly alpha: bigint; readonly beta: bigint };

const coordinate = (value: bigint): Buffer => {
  const hex = ((value << 256n) % Q).toString(16).padStart(64, '0');
  return Buffer.from(hex, 'hex').reverse();
};

const pointG1 = (scalar: bigint): Buffer => {
  if (scalar === 0n) return Buffer.alloc(64);
  const { x, y } = bn254.G1.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([coordinate(x), coordinate(y)]);
};

const pointG2 = (scalar: bigint): Buffer => {
  if (scalar === 0n) return Buffer.alloc(128);
  const { x, y } = bn254.G2.Point.BASE.multiply(scalar).toAffine();
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map(coordinate));
};

const power = (base: bigint, exponent: bigint): bigint => bn254.fields.Fr.pow(base, exponent);

/** Lagrange basis at tau over the size-th roots of unity, by its product formula (slow, and unlike the setup's). */
const lagrange = (tau: bigint, size: number): bigint[] => {
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
};

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** @param exponent circuits of up to 2^exponent rows */
export const createPowersOfTau = ({ tau, alpha, beta }: Powers, exponent: number): Buffer => {
  const size = 2 ** exponent;
  const powers = Array.from({ length: 2 * size - 1 }, (_, i) => power(tau, BigInt(i)));
  const scaled = (factor: bigint) => powers.slice(0, size).map((value) => (value * factor) % R);
  const bases = Array.from({ length: exponent + 2 }, (_, k) => lagrange(tau, 2 ** k));
  const all = bases.flat();
  const small = bases.slice(0, -1).flat();
  const order = Buffer.from(Q.toString(16).padStart(64, '0'), 'hex').reverse();
  const sections: [number, Buffer[]][] = [
    [1, [uint32(32), order, uint32(exponent), uint32(exponent)]],
    [2, powers.map(pointG1)],
    [3, powers.slice(0, size).map(pointG2)],
    [4, scaled(alpha).map(pointG1)],
    [5, scaled(beta).map(pointG1)],
    [6, [pointG2(beta)]],
    [7, [uint32(0)]],
    [12, all.map(pointG1)],
    [13, small.map(pointG2)],
    [14, small.map((value) => pointG1((value * alpha) % R))],
    [15, small.map((value) => pointG1((value * beta) % R))],
  ];
  const parts = [Buffer.from('ptau', 'latin1'), uint32(1), uint32(sections.length)];
  for (const [id, points] of sections) {
    const body = Buffer.concat(points);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(body.length));
    parts.push(uint32(id), length, body);
  }
  return Buffer.concat(parts);
};
