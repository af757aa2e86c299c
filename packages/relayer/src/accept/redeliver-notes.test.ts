/** A platform that lost its notes gets them back from the funder, checked against the chain only. */
import type { Delivery } from '@pool/api';
import { assertField, computeAssetId, fieldToHex, parseField } from '@pool/core';
import { computeWalletId, openNote } from '@pool/notes';
import { createTestHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { fakeChecks } from '../../test/fake-checks.ts';
import { startTestChain, type TestChain } from '../../test/test-chain.ts';
import { createTestSettlement, testEmployerId } from '../../test/test-settlement.ts';
import { createEvmPoolChain, type PoolChain } from '../chain/pool-chain.ts';
import { createIndexer, type Indexer } from '../indexer/indexer.ts';
import { runRelayerPass } from '../send/relayer.ts';
import { listServedNotes } from '../served/served-notes.ts';
import { parseSettlement } from '../store/submissions.ts';
import { acceptSettlement } from './accept-settlement.ts';
import { redeliverNotes } from './redeliver-notes.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const otherEmployerId = '00000000-0000-4000-8000-000000000002';

describe('redelivery', () => {
  let chain: TestChain;
  let poolChain: PoolChain;
  let database: TestDatabase;
  let indexer: Indexer;
  let snapshot: string;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    await chain.fundFunder(1_000_000n);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    await loseEverything();
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  /** An empty database on the same chain, with the two employers registered again. */
  async function loseEverything(): Promise<void> {
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    await database.reset();
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
    for (const [id, address] of [
      [testEmployerId, '0xE'],
      [otherEmployerId, '0xF'],
    ] as const) {
      await database.db
        .insertInto('employers')
        .values({ id, address, name: null, created_at: 'now' })
        .execute();
    }
  }

  const shared = () => ({
    db: database.db,
    chains: new Map([['anvil', poolChain]]),
    nowMs: Date.now,
  });

  /** A batch in a final block. */
  async function settle(): Promise<Delivery> {
    const { request } = await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot,
    });
    await acceptSettlement({ ...shared(), checks: fakeChecks }, testEmployerId, 'job-1', request);
    const relay = () =>
      runRelayerPass({
        db: database.db,
        chain: poolChain,
        log,
        nowMs: Date.now,
        replaceAfterMs: 120_000,
      });
    await relay();
    await chain.mine(2);
    await relay();
    await indexer.pass();
    return { chain: request.chain, batch: request.batch, sealedNotes: request.sealedNotes };
  }

  const redeliver = (delivery: Delivery, employerId = testEmployerId, key = 'job-1') =>
    redeliverNotes(
      { ...shared(), checks: fakeChecks, refreshIndex: () => indexer.pass() },
      employerId,
      key,
      delivery,
    );

  /** The notes that are served to the holder of the first note. */
  async function list(cursor?: string) {
    const { encryptionPublicKey } = await createTestHolder('a');
    const asset = { chain: 'anvil', tokenSymbol: 'USDC', tokenAddress: chain.token };
    return await listServedNotes(database.db, { ...asset, encryptionPublicKey, cursor });
  }

  /** Those of them that the holder can open. */
  async function openAmounts(): Promise<readonly bigint[]> {
    const holder = await createTestHolder('a');
    const { notes } = await list();
    const assetId = computeAssetId(chain.settings.chainId, chain.settings.pool, chain.token);
    return notes.flatMap(({ sealed, commitment }) => {
      const opened = openNote({
        sealed,
        viewingKey: holder.viewingKey,
        walletId: computeWalletId(holder.walletPub),
        commitment: parseField(commitment),
        assetId,
      });
      return opened === undefined ? [] : [opened.amount];
    });
  }

  it('serves the notes again after the database was lost, also when they are delivered twice', async () => {
    const delivery = await settle();
    expect(await openAmounts()).toEqual([1_000n]);
    await loseEverything();
    await indexer.pass();
    expect(await openAmounts()).toEqual([]);

    const row = await redeliver(delivery);
    expect(row).toMatchObject({ state: 'settled', key: 'job-1' });
    expect(parseSettlement(row).batch.total).toBe(delivery.batch.total);
    expect(row.tx_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await redeliver(delivery)).id).toBe(row.id);
    expect(await openAmounts()).toEqual([1_000n]);
    // Nothing is sent for it, now or later.
    await runRelayerPass({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: Date.now,
      replaceAfterMs: 0,
    });
    expect(await database.db.selectFrom('relayer_transactions').selectAll().execute()).toEqual([]);
  });

  it('counts the notes for a holder that has read beyond their place', async () => {
    const delivery = await settle();
    const { notes } = await list();
    expect(await list('9.0.0')).toEqual({ notes: [], before: notes.length });
    await loseEverything();
    await indexer.pass();
    expect(await list('9.0.0')).toEqual({ notes: [], before: 0 });
    await redeliver(delivery);
    expect(await list('9.0.0')).toEqual({ notes: [], before: notes.length });
    expect((await list()).before).toBeUndefined();
  });

  it('fills the notes of a row that lost them', async () => {
    const delivery = await settle();
    await database.db.deleteFrom('sealed_notes').execute();
    expect(await openAmounts()).toEqual([]);
    await redeliver(delivery);
    expect(await openAmounts()).toEqual([1_000n]);
  });

  it('refuses the notes of a batch that is not in a final block', async () => {
    const { request } = await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot,
    });
    const { chain: key, batch, sealedNotes } = request;
    await expect(redeliver({ chain: key, batch, sealedNotes })).rejects.toMatchObject({
      code: 'not_settled',
      status: 409,
    });
    expect(await database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
  });

  it('refuses sealed notes whose hash is not the one on chain', async () => {
    const delivery = await settle();
    await loseEverything();
    const [first, second, ...rest] = delivery.sealedNotes;
    if (first === undefined || second === undefined) throw new Error('too few notes');
    const swapped = { ...delivery, sealedNotes: [second, first, ...rest] };
    await expect(redeliver(swapped)).rejects.toMatchObject({ code: 'invalid_settlement' });
    const { batch } = await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot,
      jobKey: 'another',
    }).then(({ request }) => request);
    const foreign = { ...delivery, batch: { ...delivery.batch, batchNonce: batch.batchNonce } };
    await expect(redeliver(foreign)).rejects.toMatchObject({ code: 'not_settled' });
    const commitments = delivery.batch.commitments.toReversed();
    const reordered = { ...delivery, batch: { ...delivery.batch, commitments } };
    await expect(redeliver(reordered)).rejects.toMatchObject({ code: 'invalid_settlement' });
    expect(await openAmounts()).toEqual([]);
  });

  it('refuses a batch that another account or key has', async () => {
    const delivery = await settle();
    for (const [employerId, key] of [
      [otherEmployerId, 'job-1'],
      [testEmployerId, 'job-2'],
    ] as const) {
      await expect(redeliver(delivery, employerId, key)).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    }
    expect(await openAmounts()).toEqual([1_000n]);
  });
});
