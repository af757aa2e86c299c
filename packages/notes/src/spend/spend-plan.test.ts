import {
  hexToBigint,
  hexToBytes,
  maxAmount,
  parseField,
  parseWire,
  type SpendManifest,
  spendManifestSchema,
  verifyEvidence,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import { openNote } from '../note/sealed-note.ts';
import { deriveDummyInputs } from './dummy-inputs.ts';
import { computeOperationHash, computeSpendDigest } from './operation.ts';
import { buildSpend } from './spend-plan.ts';

type Vector = (typeof vectors.spends)[number];

function manifestOf(vector: Vector): SpendManifest {
  return parseWire(spendManifestSchema, vector.manifest, 'vector');
}

function planOf(vector: Vector, manifest = manifestOf(vector), seed = hexToBytes(vector.seed)) {
  const dummies = deriveDummyInputs(manifest, seed, hexToBigint(vector.viewingKey));
  return buildSpend(
    manifest,
    seed,
    dummies.map(({ nullifier }) => nullifier),
  );
}

const transfer = vectors.spends[0] as Vector;
const send = vectors.spends[1] as Vector;

describe('the dummy inputs of a spend', () => {
  it.each(vectors.spends)('are those of "$name"', (vector) => {
    const dummies = deriveDummyInputs(
      manifestOf(vector),
      hexToBytes(vector.seed),
      hexToBigint(vector.viewingKey),
    );
    expect(dummies).toEqual(
      vector.dummies.map(({ nonce, nullifier }) => ({
        nonce: parseField(nonce),
        nullifier: parseField(nullifier),
      })),
    );
  });

  it('have other nonces under another seed', () => {
    const derive = (seed: Uint8Array) =>
      deriveDummyInputs(manifestOf(send), seed, hexToBigint(send.viewingKey));
    const seed = hexToBytes(send.seed);
    expect(derive(seed.with(0, 1))).not.toEqual(derive(seed));
  });
});

describe('buildSpend', () => {
  it.each(vectors.spends)('rebuilds the spend "$name"', (vector) => {
    const plan = planOf(vector);
    const { operation } = vector;
    expect({ ...plan, slots: [] }).toEqual({
      manifestDigest: vector.manifestDigest,
      operation: {
        circuit: vector.circuit,
        assetId: hexToBigint(operation.assetId),
        withdrawAmount: BigInt(operation.withdrawAmount),
        recipient: vector.manifest.recipient,
        deadline: operation.deadline,
        sealedNotesHash: operation.sealedNotesHash,
        outRoot: hexToBigint(operation.outRoot),
        nullifiers: operation.nullifiers.map(hexToBigint),
      },
      operationHash: hexToBigint(vector.operationHash),
      salt: hexToBytes(vector.salt),
      digest: hexToBigint(vector.digest),
      blinding: hexToBigint(vector.blinding),
      secret: hexToBigint(vector.secret),
      walletId: hexToBigint(vector.walletId),
      commitments: operation.commitments.map(hexToBigint),
      sealedNotes: vector.sealedNotes,
      slots: [],
    });
    expect(plan.slots).toEqual(
      vector.slots.map((slot) => ({
        slot: slot.slot,
        recipientIndex: 'recipientIndex' in slot ? slot.recipientIndex : undefined,
        amount: BigInt(slot.amount),
        nonce: hexToBigint(slot.nonce),
        walletId: hexToBigint(slot.walletId),
        encryptionPoint: { x: hexToBigint(slot.px), y: hexToBigint(slot.py) },
        commitment: hexToBigint(slot.commitment),
      })),
    );
  });

  it.each(vectors.spends)('lets each payee of "$name" open only its own note', (vector) => {
    const { slots, sealedNotes, operation } = planOf(vector);
    for (const { slot, recipientIndex, walletId, commitment, amount } of slots) {
      const payee = vector.recipientKeys[recipientIndex ?? -1];
      const opens = (viewingKey: string) =>
        openNote({
          sealed: sealedNotes[slot]?.sealed ?? '',
          viewingKey: hexToBigint(viewingKey),
          walletId,
          commitment,
          assetId: operation.assetId,
        })?.amount;
      expect(opens(vector.changeViewingKey)).toBe(slot === 0 ? amount : undefined);
      if (payee !== undefined) {
        expect(opens(payee.viewingKey)).toBe(amount);
      }
    }
  });

  it('shares no value between spends of different seeds, except what the manifest fixes', () => {
    const a = planOf(transfer);
    const b = planOf(transfer, manifestOf(transfer), hexToBytes(transfer.seed).with(0, 1));
    expect(b.operation.nullifiers).toEqual(a.operation.nullifiers);
    expect(b.secret).not.toBe(a.secret);
    expect(b.blinding).not.toBe(a.blinding);
    expect(b.salt).not.toEqual(a.salt);
    expect(a.commitments.filter((commitment) => b.commitments.includes(commitment))).toEqual([]);
  });

  it('never assigns a payee to the slot of the change, and uses every other slot', () => {
    const used = new Set<number>();
    for (let i = 0; i < 40; i += 1) {
      const seed = hexToBytes(transfer.seed).with(1, i);
      for (const { slot, recipientIndex } of planOf(transfer, manifestOf(transfer), seed).slots) {
        if (recipientIndex !== undefined) {
          used.add(slot);
        }
      }
    }
    expect([...used].sort()).toEqual([1, 2, 3]);
  });

  it('uses manifests with valid evidence', () => {
    const domain = { domain: 'pool.example', uri: 'https://pool.example' };
    for (const { evidence, walletPub, encryptionPublicKey } of manifestOf(transfer).outputs) {
      expect(verifyEvidence(evidence, domain, Date.parse('2026-11-02'))).toMatchObject({
        walletPub,
        encryptionPublicKey,
      });
    }
  });

  const [first] = manifestOf(transfer).outputs;
  const nullifier = parseField(transfer.notes[0]?.nullifier);
  it.each<[string, Partial<Record<keyof SpendManifest, unknown>>, string]>([
    ['another circuit', { circuit: 'spend-4x4' }, 'invalid_request'],
    ['no input', { inputNullifiers: [] }, 'invalid_request'],
    ['an unknown field', { extra: 1 } as never, 'invalid_request'],
    ['a withdrawal without a recipient', { withdrawAmount: '1' }, 'invalid_request'],
    ['a recipient without a withdrawal', { recipient: send.manifest.recipient }, 'invalid_request'],
    [
      'the zero address',
      { withdrawAmount: '1', recipient: `0x${'0'.repeat(40)}` },
      'invalid-address',
    ],
    ['an amount with a leading zero', { changeAmount: '01' }, 'invalid_request'],
    ['a payee with amount 0', { outputs: [{ ...first, amount: '0' }] }, 'invalid_request'],
    ['amounts of 2^128 together', { changeAmount: maxAmount.toString() }, 'invalid-amount'],
    ['a payee twice', { outputs: [first, first] }, 'duplicate-recipient'],
    [
      'four payees beside the change',
      { outputs: Array.from({ length: 4 }, () => first) },
      'invalid_request',
    ],
    [
      'one nullifier twice',
      { inputNullifiers: [transfer.notes[0]?.nullifier, transfer.notes[0]?.nullifier] },
      'invalid_request',
    ],
    [
      'a nullifier of r or more',
      { inputNullifiers: [`0x${'f'.repeat(64)}`] },
      'invalid_field_element',
    ],
    ['a foreign wallet key', { walletPub: `0x05${'0'.repeat(64)}` }, 'invalid_wallet_pub'],
  ])('refuses %s', (_, change, code) => {
    const manifest: unknown = { ...manifestOf(transfer), ...change };
    const build = () =>
      Reflect.apply(buildSpend, undefined, [manifest, hexToBytes(transfer.seed), []]);
    expect(build).toThrow(expect.objectContaining({ code }));
  });

  it('refuses too few and too many dummy nullifiers, and one that is an input', () => {
    const seed = hexToBytes(send.seed);
    const own = parseField(send.notes[0]?.nullifier);
    for (const dummies of [[], [nullifier, parseField(send.digest)], [own]]) {
      expect(() => buildSpend(manifestOf(send), seed, dummies)).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      );
    }
  });
});

describe('the digest that a holder signs', () => {
  const { operation, salt, digest } = planOf(send);

  it('depends on the salt and on each part of the operation', () => {
    const other = hexToBigint(transfer.operation.outRoot);
    const changes = [
      { assetId: other },
      { withdrawAmount: operation.withdrawAmount + 1n },
      { recipient: undefined },
      { deadline: operation.deadline + 1 },
      { sealedNotesHash: transfer.operation.sealedNotesHash },
      { outRoot: other },
      { nullifiers: operation.nullifiers.with(0, parseField(transfer.operation.outRoot)) },
      { nullifiers: operation.nullifiers.with(1, parseField(transfer.operation.outRoot)) },
    ];
    const hashes = changes.map((change) =>
      computeOperationHash({ ...operation, ...change } as typeof operation),
    );
    expect(new Set([...hashes, computeOperationHash(operation)]).size).toBe(changes.length + 1);
    expect(computeSpendDigest(operation, salt)).toBe(digest);
    expect(computeSpendDigest(operation, salt.with(30, 0))).not.toBe(digest);
  });

  it('refuses a salt of another length and a fractional deadline', () => {
    expect(() => computeSpendDigest(operation, salt.subarray(1))).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
    expect(() => computeOperationHash({ ...operation, deadline: 1.5 })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
  });
});
