/**
 * The deployed circuit itself, with the hidden signer: pinned artifacts, budget, the shared vectors of protocol §5 to §7, and a proof
 * that snarkjs verifies under our key. Builds the key of spend-2x4 if the cache has none (seconds).
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { groth16, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R } from '../test/fund-batch.ts';
import {
  createSpend,
  maskingSigner,
  type Spend,
  subgroupOrder,
  toSpendInput,
  withPaths,
  withWallet,
} from '../test/spend.ts';
import { readSpendVector, type SpendVector, spendVectors } from '../test/spend-vector.ts';
import { computeWitness, endSnarkjsThreads } from '../test/witness.ts';
import { type CircuitArtifacts, createArtifactStore } from './artifacts/artifact-store.ts';
import { computeDigest, readArtifactsManifest } from './artifacts-manifest.ts';
import { type R1cs, readR1cs } from './constraints/r1cs.ts';
import { verificationKeys } from './generated/verification-keys.ts';
import { accelerateProgram } from './program/accelerate-program.ts';

const shape = { inputs: 2, outputs: 4, levels: 32, windows: 31 };

/** A spend of the wallet with private key 12345. */
function createWalletSpend(depths: readonly number[], payees: number, change: Partial<Spend> = {}) {
  const spend = withWallet(createSpend({ ...shape, depths, payees }), 12_345n);
  return withPaths({ ...spend, ...change }, shape.levels, depths);
}

function toInput(spend: Spend) {
  return toSpendInput(spend, {}, maskingSigner);
}

let artifacts: CircuitArtifacts;
let r1cs: R1cs;
/** Circom's own program. */
let compiled: string;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const store = createArtifactStore({ keyForm: 'standard' });
  artifacts = await store.ensureArtifacts('spend-2x4');
  const constraints = await store.ensureConstraints('spend-2x4');
  r1cs = readR1cs(constraints);
  compiled = join(dirname(constraints), 'circuit.wasm');
}, 600_000);
afterAll(endSnarkjsThreads);

it.each([
  ['spend-2x4', 2 ** 16],
  ['spend-16x8', 2 ** 18],
] as const)('%s keeps within its domain of %i', (circuit, domain) => {
  const entry = readArtifactsManifest()[circuit];
  expect(entry.domainSize).toBe(domain);
  expect(entry.constraints + entry.publicSignals + 1).toBeLessThanOrEqual(domain);
  expect(entry.publicSignals).toBe(3);
});

it("the pinned witness program is circom's, accelerated", async () => {
  const program = accelerateProgram(await readFile(compiled));
  expect(computeDigest(program)).toBe(readArtifactsManifest()['spend-2x4'].sha256.wasm);
});

describe('the shared vectors', () => {
  const vectors = spendVectors.filter(({ circuit }) => circuit === 'spend-2x4');

  function readInput(vector: SpendVector) {
    const walletY = secp256k1.Point.fromHex(vector.manifest.walletPub.slice(2)).toAffine().y;
    return readSpendVector(vector, walletY);
  }

  it('hold three spends of this circuit', () => {
    expect(vectors).toHaveLength(3);
  });

  it.each(vectors)('"$name" satisfies the circuit', async (vector) => {
    const witness = await computeWitness(artifacts.wasm, readInput(vector));
    expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
  });

  it('"$name" does not satisfy it with the signature of another spend', async () => {
    const [first, second] = vectors.map(readInput);
    const signature = { rLo: second?.rLo, rHi: second?.rHi };
    await expect(computeWitness(artifacts.wasm, { ...first, ...signature })).rejects.toThrow(
      'Assert Failed',
    );
  });
});

describe('spend-2x4', () => {
  const honest = toInput(createWalletSpend([5, 29], 3));

  it.each<[string, Spend]>([
    ['paths of 32 levels', createWalletSpend([32, 32], 2)],
    ['a path of one level, a dummy and a withdrawal', createWalletSpend([1], 0)],
    ['a blinding of 0', createWalletSpend([4], 1, { blindingBits: Array(248).fill(0n) })],
    ['the largest blinding', createWalletSpend([4], 1, { blindingBits: Array(248).fill(1n) })],
  ])('accepts %s', async (_, spend) => {
    const input = toInput(spend);
    const witness = await computeWitness(artifacts.wasm, input);
    expect(witness.slice(1, 4)).toEqual([input.D, input.z, input.y]);
    expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
    expect(witness).toEqual(await computeWitness(compiled, input));
  });

  it('makes a proof that snarkjs verifies, and no other public signals pass', async () => {
    const witness = { type: 'mem' as const };
    await wtns.calculate(honest, artifacts.wasm, witness);
    const { proof, publicSignals } = await groth16.prove(artifacts.zkey, witness);
    expect(publicSignals).toEqual([honest.D, honest.z, honest.y].map(String));
    const key = verificationKeys['spend-2x4'];
    expect(artifacts.verificationKey).toEqual(key);
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
    for (const i of [0, 1, 2]) {
      const signals = publicSignals.with(i, String((BigInt(publicSignals[i] ?? '0') + 1n) % R));
      expect(await groth16.verify(key, signals, proof)).toBe(false);
    }
  }, 300_000);

  it.each<[string, Partial<Spend>]>([
    ['a balance off by one', { changeAmount: honest.changeAmount + 1n }],
    ['an amount of 2^128', { amounts: honest.amounts.with(0, 2n ** 128n) }],
    ['another withdrawal', { withdrawAmount: 1n }],
    ['another recipient', { recipient: 1n }],
    ['another deadline', { deadline: honest.deadline + 1n }],
    ['another sealed hash', { sealedHi: honest.sealedHi + 1n }],
    ['another asset', { assetId: 5n }],
    ['a stranger with an amount', { walletIds: honest.walletIds.with(1, 5n) }],
    ['wallet 0 with an amount', { walletIds: honest.walletIds.with(1, 0n) }],
    ['another eligibility root', { eligibilityRoot: 0n }],
    ['another note root', { noteRoot: 5n }],
    ['another nonce of an input', { inputNonces: honest.inputNonces.with(0, 5n) }],
    ['a note of another amount', { inputAmounts: honest.inputAmounts.with(0, 5n) }],
    ['a first input that is a dummy', { inputEnabled: [0n, 1n] }],
    ['a second note that is a dummy with an amount', { inputEnabled: [1n, 0n] }],
    ['another viewing key', { viewingKey: 5n }],
    ['another salt', { salt: honest.salt + 1n }],
    ['another rSig', { rLo: honest.rLo + 1n }],
    [
      'another blinding',
      { blindingBits: honest.blindingBits.with(0, 1n - (honest.blindingBits[0] ?? 0n)) },
    ],
    ['the wallet -W', { wyLo: honest.wyLo + 1n }],
    ['another secret', { secret: 5n }],
    ['a change under another key', { changePx: 5n }],
  ])('refuses %s', async (_, change) => {
    const input = { ...honest, ...change };
    const refusal = await computeWitness(artifacts.wasm, input).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ message: expect.stringContaining('Assert Failed') as string });
    await expect(computeWitness(compiled, input)).rejects.toEqual(refusal);
  });

  it.each([
    ['0', 0n],
    ['l', subgroupOrder],
    ['l + 5, whose P is that of 5', subgroupOrder + 5n],
    ['7 l + 5', 7n * subgroupOrder + 5n],
    ['r - 1', R - 1n],
  ])('refuses the viewing key %s', async (_, viewingKey) => {
    // The notes belong to v·B8 for this v, so nothing but the check of v refuses it.
    const aliased = createWalletSpend([5, 29], 3, { viewingKey });
    await expect(computeWitness(artifacts.wasm, toInput(aliased))).rejects.toThrow('Assert Failed');
  });

  it('refuses a thief with the viewing key and a wallet of its own [service.viewing-key-moves-nothing]', async () => {
    const stolen = withWallet(createWalletSpend([5, 29], 3), 777n);
    await expect(computeWitness(artifacts.wasm, toInput(stolen))).rejects.toThrow('Assert Failed');
  });
});
