import {
  bytesToHex32,
  hexToBigint,
  hexToBytes,
  parseField,
  parseWire,
  type SpendManifest,
  spendManifestSchema,
} from '@pool/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import { openNote } from '../note/sealed-note.ts';
import { deriveDummyInputs } from './dummy-inputs.ts';
import { buildSpend } from './spend-plan.ts';

const vector = vectors.spends[0];

function withAmounts(change: bigint, amounts: readonly bigint[]): SpendManifest {
  const manifest = parseWire(spendManifestSchema, vector?.manifest, 'vector');
  const outputs = manifest.outputs
    .slice(0, amounts.length)
    .map((output, i) => ({ ...output, amount: String(amounts[i]) }));
  return { ...manifest, changeAmount: String(change), outputs };
}

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
const amounts = fc.array(fc.bigInt({ min: 1n, max: 2n ** 120n }), { maxLength: 2 });

it('a spend of any amounts has one note for each payee, the change in slot 0, and empty dummies', () => {
  fc.assert(
    fc.property(seeds, fc.bigInt({ min: 0n, max: 2n ** 127n }), amounts, (seed, change, paid) => {
      const manifest = withAmounts(change, paid);
      const { slots, commitments, sealedNotes, operation } = buildSpend(manifest, seed, []);
      expect(slots[0]).toMatchObject({ amount: change, recipientIndex: undefined });
      const placed = slots.filter(({ recipientIndex }) => recipientIndex !== undefined);
      expect(placed.map(({ recipientIndex }) => recipientIndex).toSorted()).toEqual(
        paid.map((_, i) => i),
      );
      for (const { amount, recipientIndex, slot } of slots.slice(1)) {
        expect(amount).toBe(recipientIndex === undefined ? 0n : paid[recipientIndex]);
        expect(slot).toBeGreaterThan(0);
      }
      expect(new Set(slots.map(({ nonce }) => nonce)).size).toBe(slots.length);
      expect(new Set(commitments).size).toBe(slots.length);
      const opened = openNote({
        sealed: sealedNotes[0]?.sealed ?? '',
        viewingKey: hexToBigint(vector?.changeViewingKey ?? ''),
        walletId: parseField(vector?.walletId),
        commitment: commitments[0] ?? 0n,
        assetId: operation.assetId,
      });
      expect(opened?.amount).toBe(change);
    }),
    { numRuns: 20 },
  );
});

it('each bit of the seed and of the manifest changes salt, blinding, secret and dummies', () => {
  const viewingKey = hexToBigint(vectors.spends[1]?.viewingKey ?? '');
  const manifest = parseWire(spendManifestSchema, vectors.spends[1]?.manifest, 'vector');
  const seed = hexToBytes(vectors.spends[1]?.seed ?? '');
  const build = (changed: SpendManifest, from: Uint8Array) => {
    const dummies = deriveDummyInputs(changed, from, viewingKey);
    const nullifiers = dummies.map(({ nullifier }) => nullifier);
    const plan = buildSpend(changed, from, nullifiers);
    return [
      bytesToHex32(new Uint8Array([...plan.salt, 0])),
      String(plan.blinding),
      String(plan.secret),
      ...nullifiers.map(String),
    ];
  };
  const original = build(manifest, seed);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), fc.boolean(), (bit, changesSeed) => {
      const place = bit >> 3;
      const flipped = seed.with(place, (seed[place] ?? 0) ^ (1 << (bit & 7)));
      const other = changesSeed
        ? build(manifest, flipped)
        : build({ ...manifest, deadline: manifest.deadline + 1 + bit }, seed);
      expect(other.filter((value) => original.includes(value))).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
