import {
  assertField,
  type EligibilityPathWire,
  fieldModulus,
  fundManifestSchema,
  hexToBytes,
  parseField,
  parseWire,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import batches from '../../../../vectors/fund-batch.json' with { type: 'json' };
import vectors from '../../../../vectors/fund-public-inputs.json' with { type: 'json' };
import { verifyEligibilityPath, verifyEligibilityPaths } from '../trees/verified-path.ts';
import { buildFundBatch } from './fund-batch.ts';
import { computeFundPublicInputs, computeFundWitnessInput } from './fund-proof-inputs.ts';

function batchOf(vector: (typeof vectors.batches)[number]) {
  return {
    assetId: parseField(vector.assetId),
    total: BigInt(vector.total),
    batchId: parseField(vector.batchId),
    eligibilityRoot: parseField(vector.eligibilityRoot),
    batchRoot: parseField(vector.batchRoot),
    commitments: vector.commitments.map(parseField),
  };
}

describe('computeFundPublicInputs', () => {
  it.each(vectors.batches)('matches for $commitments.length slots', (vector) => {
    const inputs = computeFundPublicInputs(batchOf(vector));
    expect(inputs.x).toEqual(vector.x.map(parseField));
    expect(inputs.digest).toBe(parseField(vector.digest));
    expect(inputs.z).toBe(parseField(vector.z));
    expect(inputs.y).toBe(parseField(vector.y));
  });

  const [example] = vectors.batches;
  it.each(['assetId', 'batchId', 'eligibilityRoot', 'batchRoot'] as const)(
    'refuses an aliased %s',
    (name) => {
      const batch = batchOf(example as never);
      const aliased = { ...batch, [name]: batch[name] + fieldModulus };
      expect(() => Reflect.apply(computeFundPublicInputs, undefined, [aliased])).toThrow(
        expect.objectContaining({ code: 'invalid_field_element' }),
      );
    },
  );

  it('refuses an aliased commitment', () => {
    const batch = batchOf(example as never);
    const aliased = { ...batch, commitments: [...batch.commitments.slice(0, 15), fieldModulus] };
    expect(() => Reflect.apply(computeFundPublicInputs, undefined, [aliased])).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});

describe.each(batches.batches)('computeFundWitnessInput for "$manifest.jobKey"', (vector) => {
  const plan = buildFundBatch(
    parseWire(fundManifestSchema, vector.manifest, 'vector'),
    hexToBytes(vector.seed),
  );
  const root = parseField(vector.eligibility.root);
  const paths = new Map(
    vector.eligibility.paths.map((path) => [path.walletId, path as EligibilityPathWire]),
  );

  const verified = verifyEligibilityPaths(root, paths.values());

  it('contains every signal of the circuit', () => {
    const input = computeFundWitnessInput(plan, root, verified);
    const decimal = (hex: string) => parseField(hex).toString();
    const { slots, publicInputs } = vector;
    expect(input).toEqual({
      D: decimal(publicInputs.digest),
      z: decimal(publicInputs.z),
      y: decimal(publicInputs.y),
      assetId: decimal(vector.assetId),
      total: vector.total,
      batchId: decimal(vector.batchId),
      secret: decimal(vector.secret),
      eligibilityRoot: decimal(vector.eligibility.root),
      amounts: slots.map(({ amount }) => amount),
      walletIds: slots.map(({ walletId }) => decimal(walletId)),
      px: slots.map(({ px }) => decimal(px)),
      py: slots.map(({ py }) => decimal(py)),
      leafIndices: slots.map(({ walletId }) => String(paths.get(walletId)?.index ?? 0)),
      siblings: slots.map(({ walletId }) => {
        const siblings = paths.get(walletId)?.siblings;
        return siblings === undefined
          ? Array.from({ length: 10 }, () => ['0', '0', '0'])
          : siblings.map((level) => level.map(decimal));
      }),
    });
  });

  it('refuses a recipient whose path is missing, malformed or leads to another root', () => {
    const [walletId = ''] = paths.keys();
    const path = paths.get(walletId) as EligibilityPathWire;
    const refused = expect.objectContaining({ code: 'unregistered-recipient' });
    const without = new Map([...verified].filter(([id]) => id !== walletId));
    expect(() => computeFundWitnessInput(plan, root, without)).toThrow(refused);
    expect(() => computeFundWitnessInput(plan, assertField(root + 1n), verified)).toThrow(refused);
    for (const change of [{ index: path.index + 1 }, { siblings: path.siblings.slice(1) }]) {
      const changed = new Map(paths).set(walletId, { ...path, ...change });
      const rest = verifyEligibilityPaths(root, changed.values());
      expect(rest.size).toBe(paths.size - 1);
      expect(() => computeFundWitnessInput(plan, root, rest)).toThrow(refused);
    }
  });

  it("refuses a recipient with another wallet's path", () => {
    const [walletId = '', otherId = ''] = paths.keys();
    const [path] = verified.values();
    const refused = expect.objectContaining({ code: 'unregistered-recipient' });
    const swapped = new Map(verified).set(otherId === '' ? walletId : otherId, path as never);
    if (otherId !== '') {
      expect(() => computeFundWitnessInput(plan, root, swapped)).toThrow(refused);
    }
    const strange = verifyEligibilityPath(
      root,
      assertField(1n),
      paths.get(walletId) as EligibilityPathWire,
    );
    expect(strange).toBeUndefined();
  });
});
