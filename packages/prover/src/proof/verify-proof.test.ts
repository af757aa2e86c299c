import { rm } from 'node:fs/promises';
import { bn254 } from '@noble/curves/bn254.js';
import { groth16, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../test/small-circuit.ts';
import { scalarFieldOrder } from '../base/field.ts';
import type { Groth16Proof } from '../base/prover.ts';
import { fromSolidityProof, toSolidityProof } from './solidity-proof.ts';
import { verifyProof } from './verify-proof.ts';

const Q = bn254.fields.Fp.ORDER;

let circuit: SmallCircuit;
let proof: Groth16Proof;
beforeAll(async () => {
  circuit = await createSmallCircuit();
  const witness = { type: 'mem' as const };
  await wtns.calculate({ product: 391, a: 17, b: 23 }, circuit.wasm, witness);
  proof = (await groth16.prove(circuit.zkey, witness)).proof as Groth16Proof;
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

function verify(signals: readonly string[], candidate: unknown = proof) {
  return verifyProof(circuit.verificationKey, signals, candidate as Groth16Proof);
}

describe('verification of a proof made by snarkjs', () => {
  it('accepts it', () => {
    expect(verify(['391'])).toBe(true);
  });

  it.each([
    ['another signal', ['392']],
    ['an aliased signal', [String(391n + scalarFieldOrder)]],
    ['no signal', []],
    ['one signal too many', ['391', '0']],
    ['a hex signal', ['0x187']],
    ['a signal with a leading zero', ['0391']],
    ['a negative signal', [String(391n - scalarFieldOrder)]],
  ])('refuses %s', (_, signals) => {
    expect(verify(signals)).toBe(false);
  });

  it('refuses points that are wrong, off the curve, aliased, at infinity or missing', () => {
    const { pi_a, pi_b, pi_c } = proof;
    const [x, y] = pi_a;
    const wrong = [
      { ...proof, pi_a: pi_c },
      { ...proof, pi_a: [x, String(Q - BigInt(y)), '1'] },
      { ...proof, pi_a: [x, String((BigInt(y) + 1n) % Q), '1'] },
      { ...proof, pi_a: [String(BigInt(x) + Q), y, '1'] },
      { ...proof, pi_a: ['0', '1', '0'] },
      { ...proof, pi_a: ['0', '0', '1'] },
      { ...proof, pi_a: [x, y, '2'] },
      { ...proof, pi_b: [pi_b[1], pi_b[0], pi_b[2]] },
      { ...proof, pi_b: [[...pi_b[0]].reverse(), [...pi_b[1]].reverse(), pi_b[2]] },
      { ...proof, pi_b: undefined },
      {},
      null,
    ];
    for (const candidate of wrong) {
      expect(verify(['391'], candidate)).toBe(false);
    }
  });

  it('refuses a G2 point on the curve but outside the subgroup', () => {
    const { Fp2 } = bn254.fields;
    const twist = bn254.G2.Point.CURVE().b;
    for (let i = 1n; ; i++) {
      const px = Fp2.fromBigTuple([i, 1n]);
      const square = Fp2.add(Fp2.mul(Fp2.sqr(px), px), twist);
      let py: typeof px;
      try {
        py = Fp2.sqrt(square);
      } catch {
        continue;
      }
      const point = bn254.G2.Point.fromAffine({ x: px, y: py });
      if (point.isTorsionFree()) continue;
      const pi_b = [
        [String(px.c0), String(px.c1)],
        [String(py.c0), String(py.c1)],
        ['1', '0'],
      ];
      expect(verify(['391'], { ...proof, pi_b })).toBe(false);
      return;
    }
  });

  it('throws for an invalid verification key', () => {
    const malformed = expect.objectContaining({ code: 'verification_key_malformed' });
    const key = circuit.verificationKey;
    for (const wrong of [
      { ...key, curve: 'bls12381' },
      { ...key, nPublic: 2 },
      { ...key, IC: [] },
      { ...key, vk_alpha_1: ['1', '1', '1'] },
    ]) {
      expect(() => verifyProof(wrong as never, ['391'], proof)).toThrow(malformed);
    }
  });
});

describe('calldata', () => {
  it('equals what snarkjs exports for a Solidity verifier, and can be converted back', async () => {
    const theirs = JSON.parse(`[${await groth16.exportSolidityCallData(proof, ['391'])}]`);
    const { a, b, c } = toSolidityProof(proof);
    expect([a, b, c]).toEqual(theirs.slice(0, 3));
    expect(fromSolidityProof(toSolidityProof(proof))).toEqual(proof);
  });
});
