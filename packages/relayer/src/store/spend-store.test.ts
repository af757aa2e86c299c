/**
 * Who gets the notes of a spend when its labels may be somebody else's, on a real chain with the real contracts: a stranger posts
 * a spend first, posts it with labels of its own, or nobody posts it at all.
 */
import type { SpendRequest } from '@pool/api';
import { errorCodeOf, PoolError } from '@pool/core';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSpendScene } from '../../test/spend-scene.ts';
import { disputeLabels } from './spend-store.ts';

const scene = createSpendScene();
let mallory: TestHolder;
beforeAll(async () => {
  await scene.open();
  mallory = await createTestHolder('mallory');
});
afterAll(scene.close);
beforeEach(scene.begin);
afterEach(scene.end);

const { accept, makeSpend, notesOf, relay, sendAsStranger, sendWrapped, settleDown } = scene;

/** Every note labelled with a key of the stranger. */
function relabel(request: SpendRequest): SpendRequest {
  return {
    ...request,
    sealedNotes: request.sealedNotes.map(({ sealed }) => ({
      sealed,
      encryptionPublicKey: mallory.encryptionPublicKey,
    })),
  };
}

/** The slots of a holder's own notes of a spend. */
function slotsOf({ sealedNotes }: SpendRequest, { encryptionPublicKey }: TestHolder): number[] {
  return sealedNotes.flatMap((note, slot) =>
    note.encryptionPublicKey === encryptionPublicKey ? [slot] : [],
  );
}

async function servedSlots(holder: TestHolder): Promise<number[]> {
  return (await notesOf(holder)).map(({ slot }) => slot);
}

describe('the notes of a spend', () => {
  it('are served by their labels when this relayer sent it and nobody posted others', async () => {
    const request = await makeSpend();
    await accept(request);
    await relay();
    await settleDown();
    expect(await servedSlots(scene.b)).toEqual(slotsOf(request, scene.b));
    expect(await servedSlots(mallory)).toEqual([]);
  });

  it.each([
    ['that nobody posted here', sendAsStranger],
    ['that a contract sent whose calldata does not show them', sendWrapped],
  ])('%s are restored from the event, and served to everybody', async (_case, send) => {
    const request = await makeSpend();
    const txHash = await send(request);
    await settleDown();
    for (const holder of [scene.a, scene.b, mallory]) {
      expect(await notesOf(holder)).toEqual(
        request.sealedNotes.map(({ sealed }, slot) => ({
          commitment: request.spend.commitments[slot],
          sealed,
          chain: 'anvil',
          token: 'USDC',
          batchIndex: 1,
          slot,
          txHash,
        })),
      );
    }
  });

  it('are not hidden by a stranger who posts a landed spend with labels of its own', async () => {
    const request = await makeSpend();
    await sendAsStranger(request);
    await scene.chain.mine(2);
    expect(await accept(relabel(request), 'theft', {}, mallory)).toBe('accepted');
    await settleDown();
    expect(await servedSlots(scene.b)).toEqual([0, 1, 2, 3]);
    expect(await servedSlots(scene.a)).toEqual([0, 1, 2, 3]);
    // Nothing is sent for it.
    expect(await scene.transactions()).toEqual([]);
  });

  it('are served to everybody once the holder posts its labels after a stranger’s, while it waits', async () => {
    const request = await makeSpend();
    await accept(relabel(request), 'theft', {}, mallory);
    await relay();
    expect(await accept(request).catch(errorCodeOf)).toBe('idempotency_conflict');
    await settleDown();
    expect(await servedSlots(scene.b)).toEqual([0, 1, 2, 3]);
  });

  it('stay with their labels when a stranger posts others without a valid proof', async () => {
    const request = await makeSpend();
    await accept(request);
    const junk = accept(relabel(request), 'junk', {}, mallory, {
      assertSpendProven: () => Promise.reject(new PoolError('proof_invalid', 'refused')),
    });
    expect(await junk.catch(errorCodeOf)).toBe('proof_invalid');
    await relay();
    await settleDown();
    expect(await servedSlots(mallory)).toEqual([]);
    expect(await servedSlots(scene.b)).toEqual(slotsOf(request, scene.b));
  });

  it('stay with their labels when a stranger copies them from the chain, and cost no proof check', async () => {
    const request = await makeSpend();
    await accept(request);
    await relay();
    await settleDown();
    const checked: string[] = [];
    const theft = accept(relabel(request), 'theft', {}, mallory, {
      assertSpendProven: (holder) => {
        checked.push(holder);
        return Promise.resolve();
      },
    });
    expect(await theft.catch(errorCodeOf)).toBe('idempotency_conflict');
    expect(checked).toEqual([]);
    const { db } = scene.database;
    const spend = db.selectFrom('submissions').select(['id', 'labels_disputed_at']);
    await disputeLabels(db, (await spend.executeTakeFirstOrThrow()).id, 0);
    expect((await spend.executeTakeFirstOrThrow()).labels_disputed_at).toBeNull();
    await scene.indexer.pass();
    expect(await servedSlots(mallory)).toEqual([]);
    expect(await servedSlots(scene.b)).toEqual(slotsOf(request, scene.b));
  });

  it('are served to everybody when two accounts posted different labels before it landed', async () => {
    const request = await makeSpend();
    await accept(request);
    expect(await accept(relabel(request), 'k', {}, mallory).catch(errorCodeOf)).toBe(
      'idempotency_conflict',
    );
    await relay();
    await settleDown();
    expect(await servedSlots(scene.b)).toEqual([0, 1, 2, 3]);
  });

  it('stay with their labels when a stranger posts other notes for the same outputs, and cost no proof check', async () => {
    const request = await makeSpend();
    await accept(request);
    const checked: string[] = [];
    const sealedNotes = relabel(request).sealedNotes.toReversed();
    const junk = accept({ ...request, sealedNotes }, 'junk', {}, mallory, {
      assertSpendProven: (holder) => {
        checked.push(holder);
        return Promise.resolve();
      },
    });
    expect(await junk.catch(errorCodeOf)).toBe('idempotency_conflict');
    expect(checked).toEqual([]);
    await relay();
    await settleDown();
    expect(await servedSlots(scene.b)).toEqual(slotsOf(request, scene.b));
  });

  it('are served to everybody when another transaction than the relayer’s landed', async () => {
    const request = await makeSpend();
    // The stranger saw the spend on its way to the chain.
    await accept(relabel(request), 'theft', {}, mallory);
    await scene.chain.provider.send('evm_setAutomine', [false]);
    await relay();
    await scene.chain.provider.send('anvil_dropAllTransactions', []);
    await scene.chain.provider.send('evm_setAutomine', [true]);
    const txHash = await sendAsStranger(request);
    await settleDown();
    expect((await scene.transactions()).length).toBeGreaterThan(0);
    const { db } = scene.database;
    const settled = await db.selectFrom('submissions').select('tx_hash').executeTakeFirst();
    expect(settled?.tx_hash).toBe(txHash);
    expect(await servedSlots(scene.b)).toEqual([0, 1, 2, 3]);
  });

  it('stay with their labels when another account posts the same ones', async () => {
    const request = await makeSpend();
    await accept(request);
    expect(await accept(request, 'k', {}, mallory).catch(errorCodeOf)).toBe('idempotency_conflict');
    await relay();
    await settleDown();
    expect(await servedSlots(mallory)).toEqual([]);
  });

  it('are served once when the holder posts them after they were restored', async () => {
    const request = await makeSpend();
    await sendAsStranger(request);
    await settleDown();
    expect(await accept(request)).toBe('accepted');
    await settleDown();
    expect((await scene.recordOf()).state).toBe('settled');
    expect(await servedSlots(scene.b)).toEqual([0, 1, 2, 3]);
    expect(await scene.database.db.selectFrom('calldata_notes').selectAll().execute()).toEqual([]);
  });
});
