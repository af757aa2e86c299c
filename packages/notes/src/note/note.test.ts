import { assertField, fieldModulus, maxAmount, parseField } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/note.json' with { type: 'json' };
import { subgroupOrder } from '../keys/baby-jubjub.ts';
import { computeCommitment, computeNullifier } from './note.ts';

function noteOf(vector: (typeof vectors.notes)[number]) {
  return {
    assetId: parseField(vector.assetId),
    amount: BigInt(vector.amount),
    nonce: parseField(vector.nonce),
    walletId: parseField(vector.walletId),
    encryptionPoint: { x: parseField(vector.px), y: parseField(vector.py) },
  };
}

function example() {
  const [vector] = vectors.notes;
  if (vector === undefined) {
    throw new Error('no vectors');
  }
  return { ...noteOf(vector), viewingKey: parseField(vector.viewingKey) };
}

describe('notes', () => {
  it.each(vectors.notes)('match for an amount of $amount', (vector) => {
    expect(computeCommitment(noteOf(vector))).toBe(parseField(vector.commitment));
    const viewingKey = parseField(vector.viewingKey);
    expect(computeNullifier({ ...noteOf(vector), viewingKey })).toBe(parseField(vector.nullifier));
  });

  it.each([-1n, maxAmount + 1n, fieldModulus])('refuse an amount of %s', (amount) => {
    expect(() => computeCommitment({ ...example(), amount })).toThrow(
      expect.objectContaining({ code: 'invalid-amount' }),
    );
  });

  it.each(['assetId', 'nonce', 'walletId'] as const)('refuse an aliased %s', (name) => {
    const note = example();
    const aliased = { ...note, [name]: note[name] + fieldModulus };
    expect(() => Reflect.apply(computeCommitment, undefined, [aliased])).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });

  it('give two nullifiers for one nonce under two assets', () => {
    const note = example();
    const elsewhere = { ...note, assetId: assertField(note.assetId + 1n) };
    expect(computeNullifier(elsewhere)).not.toBe(computeNullifier(note));
  });

  it('give no second nullifier for v + l', () => {
    const { assetId, nonce, walletId, viewingKey } = example();
    const aliased = viewingKey + subgroupOrder;
    expect(() => computeNullifier({ assetId, nonce, walletId, viewingKey: aliased })).toThrow(
      expect.objectContaining({ code: 'invalid_viewing_key' }),
    );
  });
});
