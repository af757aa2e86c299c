// Which sealed notes are erased, and which never: with the real contracts (only the verifier is a fake).
import { assertField, computeVoidBatchData, parseEvmAddress } from '@pool/core';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import {
  createEvmPoolChain,
  type PoolChain,
} from '../../../../packages/relayer/src/chain/pool-chain.ts';
import { createIndexer, type Indexer } from '../../../../packages/relayer/src/indexer/indexer.ts';
import {
  createEraser,
  type Eraser,
} from '../../../../packages/relayer/src/send/erase-dead-notes.ts';
import { runRelayerPass } from '../../../../packages/relayer/src/send/relayer.ts';
import { startTestChain, type TestChain } from '../../../../packages/relayer/test/test-chain.ts';
import { createTestSettlement } from '../../../../packages/relayer/test/test-settlement.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const keepSeconds = 1_000;

describe('sealed notes of batches that never landed', () => {
  let chain: TestChain;
  let poolChain: PoolChain;
  let database: TestDatabase;
  let indexer: Indexer;
  let eraser: Eraser;
  let snapshot: string;
  let edge: EdgeClient;
  /** This machine's clock. By default far in the future, so that the chain's clock decides. */
  let nowMs: number;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    const root = `0x${eligibilityRoot.toString(16).padStart(64, '0')}`;
    await (await chain.registry('gate').publish(root)).wait();
    await chain.fundFunder(1_000_000n);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    await database.reset();
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
    nowMs = Date.parse('2099-01-01T00:00:00Z');
    startEraser();
    const { url, fetch, edgeToken } = createTestPlatform(database, {
      poolChains: new Map([['anvil', poolChain]]),
    });
    const { token } = await edgeToken((await createTestHolder('a')).address);
    edge = createEdgeClient({ url: `${url}/agent-edge`, token, fetch });
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  function startEraser(on: Parameters<typeof createEraser>[0]['chain'] = poolChain): void {
    eraser = createEraser({ db: database.db, chain: on, log, nowMs: () => nowMs, keepSeconds });
  }
  const settlement = async (jobKey: string, attempt = 1) =>
    await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot,
      jobKey,
      attempt,
    });
  async function post(jobKey: string, attempt = 1) {
    const made = await settlement(jobKey, attempt);
    await edge.postSettlement(jobKey, made.request);
    return made;
  }
  async function withdraw(jobKey: string, { plan, request }: Awaited<ReturnType<typeof post>>) {
    const funder = chain.wallet('funder');
    const { chainId, pool } = chain.settings;
    const data = computeVoidBatchData(
      chainId,
      pool,
      parseEvmAddress(funder.address),
      plan.batchNonce,
    );
    const signature = (await funder.signTypedData(
      data.domain,
      data.types,
      data.message,
    )) as `0x${string}`;
    const { batchNonce } = request.batch;
    await edge.postVoid(jobKey, { chain: 'anvil', funder: funder.address, batchNonce, signature });
  }
  const relay = () =>
    runRelayerPass({ db: database.db, chain: poolChain, log, nowMs: () => 0, replaceAfterMs: 1e9 });
  /** A block on top makes everything before it final, then both workers run. */
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay();
    await indexer.pass();
  }
  /** Mines blocks that much later until they are final and indexed, and runs the relayer. */
  async function passTime(seconds: number): Promise<void> {
    await chain.passTime(seconds);
    await settleDown();
    await settleDown();
  }
  async function noteCounts(): Promise<Record<string, number>> {
    const rows = await database.db
      .selectFrom('submissions as s')
      .leftJoin('sealed_notes as n', 'n.submission_id', 's.id')
      .select(({ fn }) => ['s.key as key', 's.state as state', fn.count('n.slot').as('notes')])
      .groupBy(['s.id', 's.key', 's.state'])
      .orderBy('s.id')
      .execute();
    return Object.fromEntries(
      rows.map(({ key, state, notes }) => [`${key} ${state}`, Number(notes)]),
    );
  }
  const all = 16;
  const past = 3_600 + keepSeconds + 60;

  it('are erased some time after the deadline, and those of settled batches never', async () => {
    await post('paid');
    await settleDown();
    await settleDown();
    const voided = await post('voided');
    await withdraw('voided', voided);
    await settleDown();
    await settleDown();
    await chain.provider.send('evm_setAutomine', [true]);
    await post('late');
    await passTime(3_660);
    await eraser.pass();
    const counts = { 'paid settled': all, 'voided reverted': all, 'late reverted': all };
    expect(await noteCounts()).toEqual(counts);
    await passTime(past);
    await eraser.pass();
    // For that pass, the index had only read up to the block of the previous pass.
    expect(await noteCounts()).toEqual(counts);
    await eraser.pass();
    expect(await noteCounts()).toEqual({ ...counts, 'voided reverted': 0, 'late reverted': 0 });
  });

  it('of an attempt that another one superseded are erased too', async () => {
    await post('job');
    await passTime(3_660);
    await post('job', 2);
    await settleDown();
    await settleDown();
    await passTime(past);
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'job reverted': 0, 'job settled': all });
  });

  it('are kept while this machine’s clock, the index or an open transaction leaves a doubt', async () => {
    await post('late');
    await passTime(past + 3_600);
    const kept = { 'late reverted': all };
    nowMs = Date.now();
    await eraser.pass();
    expect(await noteCounts()).toEqual(kept);
    nowMs = Date.parse('2099-01-01T00:00:00Z');
    await database.db.updateTable('indexer_cursors').set({ halted: 'x' }).execute();
    await eraser.pass();
    expect(await noteCounts()).toEqual(kept);
    await database.db
      .updateTable('indexer_cursors')
      .set((eb) => ({ halted: null, block_number: eb('block_number', '-', 5) }))
      .execute();
    await eraser.pass();
    expect(await noteCounts()).toEqual(kept);
    await database.db
      .updateTable('indexer_cursors')
      .set((eb) => ({ block_number: eb('block_number', '+', 5) }))
      .execute();
    await database.db
      .insertInto('relayer_transactions')
      .values({
        submission_id: 1,
        sender: '0xR',
        chain: 'anvil',
        nonce: 99,
        tx_hash: '0x1',
        raw_transaction: '0x',
        purpose: 'fund',
        state: 'open',
        created_at: '',
      })
      .execute();
    await eraser.pass();
    expect(await noteCounts()).toEqual(kept);
    await database.db.deleteFrom('relayer_transactions').execute();
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'late reverted': 0 });
  });

  it('are kept if the contract has the batch, for every state of the row', async () => {
    const { request } = await post('job');
    await settleDown();
    await settleDown();
    await passTime(past);
    await database.db.updateTable('submissions').set({ state: 'reverted' }).execute();
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'job reverted': all });
    // The contract does not answer; only the index has the batch.
    startEraser({
      key: 'anvil',
      fetchOutRootOf: () => Promise.resolve(undefined),
      fetchFinalBlock: () => poolChain.fetchFinalBlock(),
      fetchBatchRootOf: () => Promise.resolve(undefined),
    });
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'job reverted': all });
    expect(request.sealedNotes).toHaveLength(all);
  });

  it('are erased one settlement at a time: a failed read of one does not stop the others', async () => {
    const { request } = await post('first');
    await post('second');
    await passTime(past + 3_600);
    startEraser({
      key: 'anvil',
      fetchOutRootOf: () => Promise.resolve(undefined),
      fetchFinalBlock: () => poolChain.fetchFinalBlock(),
      fetchBatchRootOf: (funder, batchNonce, block) =>
        batchNonce === request.batch.batchNonce
          ? Promise.reject(new Error('no state'))
          : poolChain.fetchBatchRootOf(funder, batchNonce, block),
    });
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'first reverted': all, 'second reverted': 0 });
    startEraser();
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'first reverted': 0, 'second reverted': 0 });
  });

  it('are missing from the settlement after erasure, and another attempt requires them', async () => {
    const { request } = await post('job');
    await passTime(past + 3_600);
    const before = await edge.getSettlement('job');
    await eraser.pass();
    expect(before).toMatchObject({ state: 'reverted', error: { code: 'authorization-expired' } });
    expect(await edge.getSettlement('job')).toEqual({ ...before, sealedNotes: [] });
    // A batch that is sent again brings its notes again: every batch that may land has its notes.
    expect(await edge.postSettlement('job', request)).toMatchObject({
      state: 'accepted',
      sealedNotes: request.sealedNotes,
    });
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'job accepted': all });
    await relay();
    expect(await edge.getSettlement('job')).toEqual(before);
    await eraser.pass();
    expect(await noteCounts()).toEqual({ 'job reverted': 0 });
    // Another attempt may use the key, as after every dead one.
    await post('job', 2);
    await settleDown();
    await settleDown();
    expect(await noteCounts()).toEqual({ 'job reverted': 0, 'job settled': all });
  });
});
