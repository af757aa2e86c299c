/**
 * The deployed circuit itself: pinned artifacts, budget, the shared vectors of protocol §5 and §6, and a proof that snarkjs verifies
 * under our key. Builds fund-16's key if the cache has none (seconds).
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { circuitNames, eligibilityDepth } from '@pool/core';
import { groth16, zKey } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import vectors from '../../../vectors/fund-batch.json' with { type: 'json' };
import { findBrokenConstraints } from '../test/constraints.ts';
import { createBatch, type FundBatch, R, sample, toInput } from '../test/fund-batch.ts';
import { computeWitness, endSnarkjsThreads } from '../test/witness.ts';
import { type CircuitArtifacts, createArtifactStore } from './artifacts/artifact-store.ts';
import { computeDigest, readArtifactsManifest } from './artifacts-manifest.ts';
import { type R1cs, readR1cs } from './constraints/r1cs.ts';
import { verificationKeys } from './generated/verification-keys.ts';
import { accelerateProgram } from './program/accelerate-program.ts';

let artifacts: CircuitArtifacts;
let r1cs: R1cs;
/** Circom's own program. */
let compiled: string;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const store = createArtifactStore({ keyForm: 'standard' });
  artifacts = await store.ensureArtifacts('fund-16');
  const constraints = await store.ensureConstraints('fund-16');
  r1cs = readR1cs(constraints);
  compiled = join(dirname(constraints), 'circuit.wasm');
});
afterAll(endSnarkjsThreads);

describe('the pinned artifacts', () => {
  it.each([
    ['fund-16', 2 ** 16],
    ['fund-64', 2 ** 18],
    ['fund-256', 2 ** 20],
  ] as const)('%s keeps within its domain of %i', (circuit, domain) => {
    const entry = readArtifactsManifest()[circuit];
    expect(entry.domainSize).toBe(domain);
    expect(entry.constraints + entry.publicSignals + 1).toBeLessThanOrEqual(domain);
    expect(entry.publicSignals).toBe(3);
  });

  it.each(circuitNames)('%s: the exported verification key is the pinned one', (circuit) => {
    const json = `${JSON.stringify(verificationKeys[circuit], null, 2)}\n`;
    expect(computeDigest(json)).toBe(readArtifactsManifest()[circuit].sha256.verificationKey);
  });

  it('the key file exports the same verification key through snarkjs', async () => {
    expect(artifacts.verificationKey).toEqual(verificationKeys['fund-16']);
    expect(await zKey.exportVerificationKey(artifacts.zkey)).toMatchObject(
      verificationKeys['fund-16'],
    );
  });
});

it("the pinned witness program is circom's, accelerated", async () => {
  const program = accelerateProgram(await readFile(compiled));
  expect(computeDigest(program)).toBe(readArtifactsManifest()['fund-16'].sha256.wasm);
});

describe('the shared vectors', () => {
  const batches = vectors.batches.filter(({ slots }) => slots.length === 16);

  it('contain at least one batch of 16', () => {
    expect(batches.length).toBeGreaterThan(0);
  });

  it.each(batches)('"$manifest.jobKey" satisfies the circuit', async (vector) => {
    const paths = new Map(vector.eligibility.paths.map((path) => [path.walletId, path]));
    const none = Array.from({ length: eligibilityDepth }, () => ['0', '0', '0']);
    const input = {
      D: BigInt(vector.publicInputs.digest),
      z: BigInt(vector.publicInputs.z),
      y: BigInt(vector.publicInputs.y),
      assetId: BigInt(vector.assetId),
      total: vector.total,
      batchId: BigInt(vector.batchId),
      secret: BigInt(vector.secret),
      eligibilityRoot: BigInt(vector.eligibility.root),
      amounts: vector.slots.map(({ amount }) => amount),
      walletIds: vector.slots.map(({ walletId }) => BigInt(walletId)),
      px: vector.slots.map(({ px }) => BigInt(px)),
      py: vector.slots.map(({ py }) => BigInt(py)),
      leafIndices: vector.slots.map(({ walletId }) => BigInt(paths.get(walletId)?.index ?? 0)),
      siblings: vector.slots.map(
        ({ walletId }) => paths.get(walletId)?.siblings.map((level) => level.map(BigInt)) ?? none,
      ),
    };
    const witness = await computeWitness(artifacts.wasm, input);
    expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
  });
});

describe('fund-16', () => {
  const honest = toInput(createBatch(16, 11));

  it('makes a proof that snarkjs verifies with its own public signals only', async () => {
    const witness = { type: 'mem' as const };
    const { wtns } = await import('snarkjs');
    await wtns.calculate(honest, artifacts.wasm, witness);
    const { proof, publicSignals } = await groth16.prove(artifacts.zkey, witness);
    expect(publicSignals).toEqual([honest.D, honest.z, honest.y].map(String));
    const key = verificationKeys['fund-16'];
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
    for (const i of [0, 1, 2]) {
      const value = BigInt(publicSignals[i] ?? '0');
      for (const wrong of [(value + 1n) % R, value + R]) {
        const signals = publicSignals.with(i, String(wrong));
        expect(await groth16.verify(key, signals, proof)).toBe(false);
      }
    }
  }, 180_000);

  it.each([
    ['a sum off by one', { total: honest.total + 1n }],
    ['an amount of 2^128', { amounts: honest.amounts.with(0, 2n ** 128n) }],
    ['a stranger with an amount', { walletIds: honest.walletIds.with(3, 5n) }],
    ['wallet 0 with an amount', { walletIds: honest.walletIds.with(3, 0n) }],
    ['another owner than the committed one', { px: honest.px.with(3, 5n) }],
    ['another secret', { secret: 5n }],
    ['another leaf index', { leafIndices: honest.leafIndices.with(3, 5n) }],
    ['another root', { eligibilityRoot: 5n }],
    ['another D', { D: honest.D + 1n }],
    ['another z', { z: honest.z + 1n }],
    ['another y', { y: honest.y + 1n }],
  ])('refuses %s', async (_, change) => {
    const input = { ...honest, ...change };
    const refusal = await computeWitness(artifacts.wasm, input).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ message: expect.stringContaining('Assert Failed') as string });
    await expect(computeWitness(compiled, input)).rejects.toEqual(refusal);
  });

  const seed = randomUUID();
  const random = (name: string) =>
    Array.from({ length: 16 }, (_, i) => sample(`${seed} ${name} ${i}`));
  const batch = createBatch(16, 0);
  it.each<[string, FundBatch]>([
    ['16 recipients', createBatch(16)],
    ['one recipient', createBatch(16, 1)],
    [
      'the largest amount',
      {
        ...createBatch(16, 1),
        amounts: [2n ** 128n - 1n, ...batch.amounts.slice(1)],
        total: 2n ** 128n - 1n,
      },
    ],
    [
      'zeros',
      {
        ...batch,
        assetId: 0n,
        batchId: 0n,
        secret: 0n,
        walletIds: batch.amounts,
        px: batch.amounts,
        py: batch.amounts,
      },
    ],
    [
      'the largest elements',
      { ...batch, assetId: R - 1n, batchId: R - 1n, secret: R - 1n, px: Array(16).fill(R - 1n) },
    ],
    [
      `random elements (${seed})`,
      {
        ...batch,
        secret: sample(seed),
        walletIds: random('id'),
        px: random('px'),
        py: random('py'),
      },
    ],
  ])("has the wires of circom's program for %s", async (_, one) => {
    const input = toInput(one);
    const witness = await computeWitness(artifacts.wasm, input);
    expect(witness).toEqual(await computeWitness(compiled, input));
  });
});
