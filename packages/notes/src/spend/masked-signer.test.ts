import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBigint, parseField } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import {
  computeMaskedSigner,
  type MaskedSigner,
  type SpendSignature,
  verifyMaskedSigner,
} from './masked-signer.ts';

type Vector = (typeof vectors.spends)[number];

const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const p = 2n ** 256n - 2n ** 32n - 977n;

function maskOf(vector: Vector): MaskedSigner {
  return {
    maskedPub: { x: hexToBigint(vector.masked.x), y: hexToBigint(vector.masked.y) },
    maskedDigest: hexToBigint(vector.masked.digest),
    slope: hexToBigint(vector.masked.slope),
  };
}

function signatureOf({ signature }: Vector): SpendSignature {
  return {
    rSig: hexToBigint(signature.rSig),
    s: hexToBigint(signature.s),
    parity: signature.parity === 0 ? 0 : 1,
  };
}

function partsOf(vector: Vector) {
  return {
    walletPub: vector.manifest.walletPub as `0x${string}`,
    digest: parseField(vector.digest),
    blinding: hexToBigint(vector.blinding),
    rSig: hexToBigint(vector.signature.rSig),
  };
}

const example = vectors.spends[0] as Vector;
const other = vectors.spends[1] as Vector;

describe('computeMaskedSigner', () => {
  it.each(vectors.spends)('gives W\', m\' and the slope of "$name"', (vector) => {
    expect(computeMaskedSigner(partsOf(vector))).toEqual(maskOf(vector));
  });

  it.each([
    ['a blinding of 2^248', { blinding: 2n ** 248n }, 'invalid_value'],
    ['a negative blinding', { blinding: -1n }, 'invalid_value'],
    ['rSig 0', { rSig: 0n }, 'invalid_signature'],
    ['rSig n', { rSig: n }, 'invalid_signature'],
    ['a wallet key that is not a point', { walletPub: '0x05' }, 'invalid_wallet_pub'],
  ])('refuses %s', (_, change, code) => {
    expect(() =>
      Reflect.apply(computeMaskedSigner, undefined, [{ ...partsOf(example), ...change }]),
    ).toThrow(expect.objectContaining({ code }));
  });

  it('accepts the smallest and the largest blinding', () => {
    for (const blinding of [0n, 2n ** 248n - 1n]) {
      const masked = computeMaskedSigner({ ...partsOf(example), blinding });
      expect(verifyMaskedSigner(masked, signatureOf(example))).toBe(true);
    }
  });
});

describe('verifyMaskedSigner', () => {
  it.each(vectors.spends)('accepts "$name"', (vector) => {
    expect(verifyMaskedSigner(maskOf(vector), signatureOf(vector))).toBe(true);
  });

  it('refuses the signature of another operation and the mask of another wallet', () => {
    expect(verifyMaskedSigner(maskOf(example), signatureOf(other))).toBe(false);
    expect(verifyMaskedSigner(maskOf(other), signatureOf(example))).toBe(false);
  });

  const mask = maskOf(example);
  const { maskedPub } = mask;
  it.each<[string, Partial<MaskedSigner>]>([
    ["another W'x", { maskedPub: { ...maskedPub, x: maskedPub.x + 1n } }],
    ["another W'y", { maskedPub: { ...maskedPub, y: p - maskedPub.y } }],
    ["W'x + p", { maskedPub: { ...maskedPub, x: maskedPub.x + p } }],
    ["W'y - p", { maskedPub: { ...maskedPub, y: maskedPub.y - p } }],
    ["another m'", { maskedDigest: mask.maskedDigest + 1n }],
    ["m' + n", { maskedDigest: mask.maskedDigest + n }],
    ["m' below 0", { maskedDigest: mask.maskedDigest - n }],
    ['another slope', { slope: mask.slope + 1n }],
    ['an aliased slope', { slope: mask.slope + p }],
  ])('refuses %s', (_, change) => {
    expect(verifyMaskedSigner({ ...mask, ...change }, signatureOf(example))).toBe(false);
  });

  const signature = signatureOf(example);
  it.each<[string, Partial<SpendSignature>]>([
    ['rSig 0', { rSig: 0n }],
    ['another rSig', { rSig: signature.rSig - 1n }],
    ['s 0', { s: 0n }],
    ['s + n', { s: signature.s + n }],
    ['the mirrored s', { s: n - signature.s }],
    ['the other parity', { parity: signature.parity === 0 ? 1 : 0 }],
  ])('refuses %s', (_, change) => {
    expect(verifyMaskedSigner(mask, { ...signature, ...change })).toBe(false);
  });
});

/** W from two signatures over one m, both masked with one b: what anyone could do who sees rSig and m' of both. */
function solveWallet(
  maskedPub: MaskedSigner['maskedPub'],
  [first, second]: readonly { readonly rSig: bigint; readonly maskedDigest: bigint }[],
): string {
  const modN = (value: bigint) => ((value % n) + n) % n;
  const digests = modN((first?.maskedDigest ?? 0n) - (second?.maskedDigest ?? 0n));
  const { Fn, BASE, fromAffine } = secp256k1.Point;
  const scalar = Fn.div(digests, modN((second?.rSig ?? 0n) - (first?.rSig ?? 0n)));
  return `0x${fromAffine(maskedPub).subtract(BASE.multiply(scalar)).toHex(true)}`;
}

describe('one rSig for each m', () => {
  const walletPub = example.manifest.walletPub;
  const [firstR, secondR] = [signatureOf(example).rSig, signatureOf(other).rSig];
  const maskWith = (vector: Vector, rSig: bigint) => ({
    ...computeMaskedSigner({ ...partsOf(vector), rSig }),
    rSig,
  });

  it('two of them under one mask give W to everybody', () => {
    const [one, two] = [maskWith(example, firstR), maskWith(example, secondR)];
    expect(one.maskedPub).toEqual(two.maskedPub);
    expect(solveWallet(one.maskedPub, [one, two])).toBe(walletPub);
  });

  it('one of each of two spends gives nothing: each spend has its own m and mask', () => {
    const [one, two] = [maskWith(example, firstR), maskWith(other, secondR)];
    expect(solveWallet(one.maskedPub, [one, two])).not.toBe(walletPub);
    expect(solveWallet(two.maskedPub, [one, two])).not.toBe(walletPub);
  });
});
