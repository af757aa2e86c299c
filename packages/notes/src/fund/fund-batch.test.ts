import {
  computeBatchNonce,
  type FundManifest,
  fundManifestSchema,
  hexToBigint,
  hexToBytes,
  maxAmount,
  parseWire,
  verifyEvidence,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import badKeys from '../../../../vectors/encryption-key.json' with { type: 'json' };
import vectors from '../../../../vectors/fund-batch.json' with { type: 'json' };
import { openNote } from '../note/sealed-note.ts';
import { buildFundBatch } from './fund-batch.ts';

function manifestOf(value: unknown): FundManifest {
  return parseWire(fundManifestSchema, value, 'vector');
}

const example = (() => {
  const vector = vectors.batches[0];
  if (vector === undefined) {
    throw new Error('no vectors');
  }
  return { manifest: manifestOf(vector.manifest), seed: hexToBytes(vector.seed) };
})();

function withRecipient(change: Partial<FundManifest['recipients'][number]>): FundManifest {
  const [first, ...rest] = example.manifest.recipients;
  return { ...example.manifest, recipients: [{ ...first, ...change }, ...rest] as never };
}

describe('buildFundBatch', () => {
  it.each(vectors.batches)('rebuilds the batch "$manifest.jobKey" of $manifest.size', (vector) => {
    const plan = buildFundBatch(manifestOf(vector.manifest), hexToBytes(vector.seed));
    expect({ ...plan, slots: [] }).toEqual({
      manifestDigest: vector.manifestDigest,
      assetId: hexToBigint(vector.assetId),
      total: BigInt(vector.total),
      batchNonce: hexToBigint(vector.batchNonce),
      batchId: hexToBigint(vector.batchId),
      secret: hexToBigint(vector.secret),
      batchRoot: hexToBigint(vector.batchRoot),
      commitments: vector.commitments.map(hexToBigint),
      sealedNotes: vector.sealedNotes,
      sealedNotesHash: vector.sealedNotesHash,
      slots: [],
    });
    expect(plan.slots).toEqual(
      vector.slots.map((slot) => ({
        slot: slot.slot,
        recipientIndex: slot.recipientIndex,
        amount: BigInt(slot.amount),
        nonce: hexToBigint(slot.nonce),
        walletId: hexToBigint(slot.walletId),
        encryptionPoint: { x: hexToBigint(slot.px), y: hexToBigint(slot.py) },
        commitment: hexToBigint(slot.commitment),
      })),
    );
  });

  it.each(vectors.batches)(
    'lets each recipient of "$manifest.jobKey" open only its own note [service.notes-open-by-p-alone]',
    (vector) => {
      const manifest = manifestOf(vector.manifest);
      const plan = buildFundBatch(manifest, hexToBytes(vector.seed));
      const [stranger] = vector.recipientKeys.slice(-1);
      for (const { slot, recipientIndex, walletId, commitment } of plan.slots) {
        const sealed = plan.sealedNotes[slot]?.sealed ?? '';
        const keys = vector.recipientKeys[recipientIndex ?? -1] ?? stranger;
        const viewingKey = hexToBigint(keys?.viewingKey ?? '');
        const opened = openNote({
          sealed,
          viewingKey,
          walletId,
          commitment,
          assetId: plan.assetId,
        });
        const recipient = manifest.recipients[recipientIndex ?? -1];
        expect(opened?.amount.toString()).toBe(recipient?.amount);
        expect(opened?.memo).toBe(recipient?.memo);
      }
    },
  );

  it('hides how many slots are filled: all sealed notes have the same form [service.nothing-private-on-chain]', () => {
    const { sealedNotes } = buildFundBatch(example.manifest, example.seed);
    expect(sealedNotes.map(({ sealed }) => sealed.slice(0, 4) + sealed.length)).toEqual(
      Array.from({ length: 16 }, () => '0x01420'),
    );
    expect(new Set(sealedNotes.map(({ sealed }) => sealed.slice(4, 68))).size).toBe(16);
  });

  it('shares no value between batches of different seeds', () => {
    const a = buildFundBatch(example.manifest, example.seed);
    const b = buildFundBatch(example.manifest, example.seed.with(0, 1));
    expect(b.batchNonce).toBe(a.batchNonce);
    expect(b.secret).not.toBe(a.secret);
    expect(a.commitments.filter((commitment) => b.commitments.includes(commitment))).toEqual([]);
  });

  it('gives each attempt its own nonce', () => {
    const a = buildFundBatch(example.manifest, example.seed);
    const retry = buildFundBatch({ ...example.manifest, attempt: 2 }, example.seed);
    expect(retry.batchNonce).not.toBe(a.batchNonce);
  });

  it('refuses a manifest with a deadline: a batch does not depend on the time of its release', () => {
    const dated = { ...example.manifest, deadline: 1_900_000_000 };
    expect(() => buildFundBatch(dated, example.seed)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('gives one batch nonce for every letter case of the addresses', () => {
    const { pool, funder, token } = example.manifest;
    const spelled = {
      ...example.manifest,
      pool: pool.toLowerCase(),
      funder: funder.toLowerCase(),
      token: token.toLowerCase(),
    };
    const a = buildFundBatch(example.manifest, example.seed);
    const b = buildFundBatch(spelled, example.seed);
    expect(b.batchNonce).toBe(a.batchNonce);
    expect(b.batchId).toBe(a.batchId);
    expect(b.assetId).toBe(a.assetId);
    expect(Reflect.apply(computeBatchNonce, undefined, [spelled])).toBe(a.batchNonce);
  });

  it('uses manifests with valid evidence', () => {
    const domain = { domain: 'pool.example', uri: 'https://pool.example' };
    for (const recipient of example.manifest.recipients) {
      const { address, walletPub, encryptionPublicKey } = recipient;
      expect(verifyEvidence(recipient.evidence, domain, Date.parse('2026-11-02'))).toMatchObject({
        address,
        walletPub,
        encryptionPublicKey,
      });
    }
  });

  const [first, second] = example.manifest.recipients;
  it.each([
    ['a seed of 31 bytes', example.manifest, 'invalid_value', example.seed.subarray(1)],
    ['no recipients', { ...example.manifest, recipients: [] }, 'invalid_request'],
    ['another size', { ...example.manifest, size: 32 as never }, 'invalid_request'],
    ['an unknown field', { ...example.manifest, extra: 1 } as never, 'invalid_request'],
    ['amount 0', withRecipient({ amount: '0' }), 'invalid_request'],
    [
      'amounts of 2^128 together',
      withRecipient({ amount: maxAmount.toString() }),
      'invalid-amount',
    ],
    [
      'a recipient twice',
      { ...example.manifest, recipients: [...example.manifest.recipients, first as never] },
      'duplicate-recipient',
    ],
    [
      'a walletPub of another wallet',
      withRecipient({ walletPub: second?.walletPub as never }),
      'wallet_mismatch',
    ],
    [
      'a false checksum',
      { ...example.manifest, pool: swapCase(example.manifest.pool) },
      'invalid-address',
    ],
    [
      'a bad encryption key',
      withRecipient({ encryptionPublicKey: badKeys.invalid[4]?.encryptionPublicKey as never }),
      'invalid_encryption_key',
    ],
    [
      '17 recipients in 16 slots',
      { ...manifestOf(vectors.batches[2]?.manifest), size: 16 as const },
      'batch-too-large',
    ],
  ])('refuses %s', (_, manifest, code, seed: Uint8Array = example.seed) => {
    expect(() => buildFundBatch(manifest, seed)).toThrow(expect.objectContaining({ code }));
  });
});

function swapCase(address: string): string {
  return `0x${address
    .slice(2)
    .replace(/[a-f]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )}`;
}
