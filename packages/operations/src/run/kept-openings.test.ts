// Openings are kept before what they derive from is erased. Vectors: vectors/disclosure.json.
import {
  bigintToHex32,
  type DisclosedInsertion,
  fieldToHex,
  fundManifestSchema,
  hexToBytes,
  parseField,
  parseHex32,
  parseWire,
  spendManifestSchema,
} from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { buildSpend } from '@pool/notes';
import { type ArchivedSpend, openBatch, openSpend, type PaidBatch } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import { createWorld } from '../fixtures/fake-world.ts';
import { manifestName } from './job/record.ts';
import { eraseExpired } from './retention.ts';

const dayMs = 86_400_000;
const txHash = bigintToHex32(1n);

type Shown = Pick<DisclosedInsertion, 'payments' | 'sealedNotes'> & { readonly change?: object };

/** What a payer of the vectors showed. */
function insertionOf(place: number): Shown {
  return vectors.disclosures[place]?.document.insertions[0] as unknown as Shown;
}

describe('the openings of a payer', () => {
  it('of a batch are those of the vector, for everybody', async () => {
    const manifest = parseWire(fundManifestSchema, vectors.batch.manifest, 'vector');
    const seed = parseHex32(vectors.batch.seed);
    const kept = await openBatch(
      { manifest, seed, jobKey: 'k', txHash, paidAtMs: 1 },
      async () => {},
    );
    const shown = insertionOf(0);
    expect(kept.insertion.payments).toHaveLength(3);
    expect(kept.insertion.payments).toEqual(expect.arrayContaining([...shown.payments]));
    expect(kept.insertion.sealedNotes).toEqual(shown.sealedNotes);
    expect(JSON.stringify(kept)).not.toContain(vectors.batch.seed.slice(2));
  });

  it('of a spend are those of the vector, without a viewing key', () => {
    const manifest = parseWire(spendManifestSchema, vectors.spend.manifest, 'vector');
    const nullifiers = vectors.spend.dummyNullifiers.map(parseField);
    const plan = buildSpend(manifest, hexToBytes(vectors.spend.seed), nullifiers);
    const spend = {
      outRoot: fieldToHex(plan.operation.outRoot),
      createdAtMs: 1,
      secrets: { manifest, seed: parseHex32(vectors.spend.seed) },
      state: { kind: 'settled', txHash, blockNumber: 1 },
    } as unknown as ArchivedSpend;
    const shown = insertionOf(1);
    const kept = openSpend(spend);
    expect(kept?.insertion).toMatchObject({ change: shown.change });
    expect(kept?.insertion.payments.map(({ memo: _, ...rest }) => rest)).toEqual(
      expect.arrayContaining([...shown.payments]),
    );
    expect(openSpend({ ...spend, state: { kind: 'archived' } })).toBeUndefined();
  });
});

describe('the erasure of a paid batch', () => {
  it('comes after its openings were kept, and not at all if they cannot be', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await world.run(job);
    const store = createMemoryStore();
    const name = { scope: 'employer', key: job.record().key };
    const nowMs = world.clock.nowMs();
    const payload = job.payload();
    await store.claim({ ...name, fingerprint: 'f', state: 'done', payload, nowMs });
    const lease = await store.lease({ workerId: 'w', states: ['done'], ttlMs: 1, nowMs });
    const manifest = job.values.get(manifestName) ?? '';
    const fence = lease?.fence ?? 0;
    await store.putOnce({ ...name, fence, name: manifestName, value: manifest });
    const later = nowMs + 31 * dayMs;
    const full = await eraseExpired(store, 30, later, async () => {
      throw new Error('the disk is full');
    });
    expect(full).toMatchObject({ erased: 0, failed: [{ code: 'internal_error' }] });
    expect(await store.getValue(name.scope, name.key, manifestName)).toBeDefined();
    const kept: PaidBatch[] = [];
    const pass = await eraseExpired(store, 30, later, async (batch) => {
      // The manifest is still there: a process that dies here keeps twice, and loses nothing.
      expect(await store.getValue(name.scope, name.key, manifestName)).toBeDefined();
      kept.push(batch);
    });
    expect(pass).toEqual({ erased: 1, failed: [] });
    expect(kept.map(({ jobKey }) => jobKey)).toEqual([name.key]);
    expect(await store.getValue(name.scope, name.key, manifestName)).toBeUndefined();
  });
});
