/** The gadget of the spend circuits, 31 windows (protocol §7), against @noble/curves. Its soundness: hidden-signer.test.ts. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R, sample } from '../test/fund-batch.ts';
import { computeOutputs, type HiddenSigner, N, toSignals } from '../test/hidden-signer.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
} from '../test/witness.ts';

const windows = 31;
const largestMask = (1n << 248n) - 1n;
const { Point } = secp256k1;
const wallet = Point.BASE.multiply(sample('wallet')).toAffine();

let circuit: CompiledTest;
beforeAll(async () => {
  circuit = await compileTest(
    `include "hidden-signer.circom";\ncomponent main = HiddenSigner(${windows});`,
  );
});
afterAll(endSnarkjsThreads);

describe('W + b̂·G and m - rSig·b̂', () => {
  const sampled: HiddenSigner = {
    wallet,
    digest: sample('digest'),
    mask: sample('mask') & largestMask,
    scalar: sample('scalar'),
  };
  it.each([
    ['arbitrary values', sampled],
    ['other arbitrary values', { ...sampled, mask: sample('mask 2') & largestMask, digest: 1n }],
    ['b = 0, m = 0, rSig = 0', { wallet, digest: 0n, mask: 0n, scalar: 0n }],
    ['every bit of b set, m = r - 1', { ...sampled, digest: R - 1n, mask: largestMask }],
    ['the largest of everything', { wallet, digest: R - 1n, mask: largestMask, scalar: N - 1n }],
    ['rSig = 1, one zero digit in b', { ...sampled, mask: largestMask - 0xff00n, scalar: 1n }],
    ['rSig = 2^256 - 1', { ...sampled, scalar: (1n << 256n) - 1n }],
    ['W = -G', { ...sampled, wallet: Point.BASE.negate().toAffine() }],
  ])('%s', async (_, values) => {
    const witness = await computeWitness(circuit.wasm, toSignals(values, windows));
    expect(witness.slice(1, 7)).toEqual(computeOutputs(values, windows));
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });

  it('takes the rows that its header states', () => {
    const { constraints, a, b, c } = circuit.r1cs;
    expect({ constraints, terms: a.wire.length + b.wire.length + c.wire.length }).toEqual({
      constraints: 19_598,
      terms: 180_315,
    });
  });
});
