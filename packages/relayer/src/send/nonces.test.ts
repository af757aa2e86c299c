/** Transactions that are not mined or that revert, on a real chain whose base fee rises above their fees. */
import type { SettlementRequest } from '@pool/api';
import { assertField, fieldToHex } from '@pool/core';
import { Transaction } from 'ethers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { fakeChecks } from '../../test/fake-checks.ts';
import { startTestChain, type TestChain } from '../../test/test-chain.ts';
import {
  createTestSettlement,
  insertTestEmployer,
  testEmployerId,
} from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import { createEvmPoolChain, type PoolChain } from '../chain/pool-chain.ts';
import { createIndexer, type Indexer } from '../indexer/indexer.ts';
import { describeSettlement } from '../store/settlement-store.ts';
import { findSubmission } from '../store/submissions.ts';
import { runRelayerPass } from './relayer.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const gwei = 10n ** 9n;

describe('a transaction in progress', () => {
  let chain: TestChain;
  let poolChain: PoolChain;
  let database: TestDatabase;
  let indexer: Indexer;
  let snapshot: string;
  let nowMs: number;

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
    openChain();
    await database.reset();
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    await insertTestEmployer(database.db);
    await chain.provider.send('evm_setAutomine', [false]);
    // A snapshot does not contain the next block's base fee: the previous test may have left a high one.
    await mineAt(10n ** 9n);
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  function openChain(maxFeePerGas?: bigint): void {
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'), {
      maxFeePerGas,
    });
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
  }
  const relay = (on: PoolChain = poolChain) =>
    runRelayerPass({
      db: database.db,
      chain: on,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 120_000,
    });
  async function accept(request: SettlementRequest, key = 'job-1') {
    const chains = new Map([['anvil', poolChain]]);
    const deps = { db: database.db, chains, checks: fakeChecks, nowMs: () => nowMs };
    await acceptSettlement(deps, testEmployerId, key, request);
  }
  /** Accepts and sends a settlement, and then raises the base fee above its offer. */
  async function getStuck(jobKey = 'job-1') {
    const target = await chain.settlementTarget();
    const settlement = await createTestSettlement(target, { eligibilityRoot, jobKey });
    await accept(settlement.request, jobKey);
    await relay();
    await mineAt(10n ** 12n);
    return settlement;
  }
  async function mineAt(baseFee: bigint): Promise<void> {
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    await chain.mine(1);
  }
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay();
    await indexer.pass();
  }
  async function recordOf(key = 'job-1') {
    const row = await findSubmission(database.db, testEmployerId, key);
    if (row === undefined) throw new Error('no row');
    return await describeSettlement(database.db, row);
  }
  const transactions = () =>
    database.db.selectFrom('relayer_transactions').selectAll().orderBy('id').execute();
  const states = async () =>
    (await transactions()).map(({ nonce, purpose, state }) => [nonce, purpose, state]);
  const batchCount = () => chain.pool().batchCount();

  it('that is not mined is replaced at its own nonce with fees an eighth higher, and settles', async () => {
    await getStuck();
    await relay();
    nowMs += 119_000;
    await relay();
    expect(await transactions()).toHaveLength(1);
    expect(await batchCount()).toBe(0n);
    nowMs += 1_000;
    await relay();
    const sent = await transactions();
    const [old, next] = sent.map(({ raw_transaction }) => Transaction.from(raw_transaction));
    expect(sent).toHaveLength(2);
    expect([next?.nonce, next?.to, next?.data]).toEqual([old?.nonce, old?.to, old?.data]);
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      expect((next?.[fee] ?? 0n) * 8n).toBeGreaterThanOrEqual((old?.[fee] ?? 0n) * 9n);
    }
    await settleDown();
    expect(await states()).toEqual([
      [0, 'fund', 'dropped'],
      [0, 'fund', 'succeeded'],
    ]);
    const record = await recordOf();
    expect([record.state, record.txHash]).toEqual(['settled', sent[1]?.tx_hash]);
    expect(await batchCount()).toBe(1n);
    expect(await chain.provider.getTransactionCount(chain.wallet('relayer').address)).toBe(1);
  });

  it('that is not mined is replaced also when the node drops it from its pool', async () => {
    await getStuck();
    const [sent] = await transactions();
    await chain.provider.send('anvil_dropTransaction', [sent?.tx_hash]);
    nowMs += 120_000;
    // The node refuses what is stored: it offers too little.
    await relay({ ...poolChain, broadcast: () => Promise.reject(new Error('fee too low')) });
    expect(await transactions()).toHaveLength(2);
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect(await batchCount()).toBe(1n);
  });

  it('waits again before the next replacement', async () => {
    await getStuck();
    nowMs += 120_000;
    await relay();
    await mineAt(10n ** 15n);
    nowMs += 239_000;
    await relay();
    expect(await transactions()).toHaveLength(2);
    nowMs += 1_000;
    await relay();
    expect(await transactions()).toHaveLength(3);
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect(await batchCount()).toBe(1n);
  });

  describe('under a cap of 10 gwei', () => {
    const cap = 10n * gwei;
    const offers = async () =>
      (await transactions()).map(({ raw_transaction }) => {
        const { maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(raw_transaction);
        return [maxFeePerGas ?? 0n, maxPriorityFeePerGas ?? 0n] as const;
      });
    beforeEach(() => {
      poolChain.close();
      openChain(cap);
    });

    it('never offers more, and offers the cap if the chain asks for a margin above it', async () => {
      await mineAt(8n * gwei);
      const target = await chain.settlementTarget();
      await accept((await createTestSettlement(target, { eligibilityRoot })).request);
      await relay();
      const [[fee = 0n] = []] = await offers();
      expect(fee).toBe(cap);
      await settleDown();
      expect((await recordOf()).state).toBe('settled');
    });

    it('sends nothing while the chain asks for more, and sends when it asks for less', async () => {
      await mineAt(20n * gwei);
      const target = await chain.settlementTarget();
      await accept((await createTestSettlement(target, { eligibilityRoot })).request);
      await relay();
      await relay();
      expect(await transactions()).toEqual([]);
      expect((await recordOf()).state).toBe('accepted');
      await mineAt(gwei);
      await relay();
      await settleDown();
      expect((await recordOf()).state).toBe('settled');
    });

    it('replaces within the cap only, and settles with the last sent transaction', async () => {
      await getStuck();
      nowMs += 100_000_000;
      await relay();
      await relay();
      expect(await transactions()).toHaveLength(1);
      await mineAt(4n * gwei);
      await relay();
      // As often as it is due, until the next step would leave the cap.
      for (let round = 0; round < 30; round += 1) {
        nowMs += 100_000_000;
        await relay();
      }
      const offered = await offers();
      expect(offered.length).toBeGreaterThan(1);
      expect(offered.length).toBeLessThan(30);
      for (const [fee, tip] of offered) {
        expect(fee).toBeLessThanOrEqual(cap);
        expect(tip).toBeLessThanOrEqual(fee);
      }
      await settleDown();
      expect((await recordOf()).state).toBe('settled');
      expect(await batchCount()).toBe(1n);
    });
  });

  it('settles with the replaced transaction if that one is mined', async () => {
    await getStuck();
    nowMs += 120_000;
    await relay({ ...poolChain, broadcast: () => Promise.resolve() });
    const [old] = await transactions();
    // Another node still has the first one, and the base fee has come down again.
    await mineAt(1n);
    await poolChain.broadcast(old?.raw_transaction ?? '');
    await chain.mine(1);
    expect(await batchCount()).toBe(1n);
    // Mined and not final: nothing is decided, and nothing more is sent.
    nowMs += 10_000_000;
    await relay();
    expect(await states()).toEqual([
      [0, 'fund', 'open'],
      [0, 'fund', 'open'],
    ]);
    await settleDown();
    expect(await states()).toEqual([
      [0, 'fund', 'succeeded'],
      [0, 'fund', 'dropped'],
    ]);
    expect((await recordOf()).txHash).toBe(old?.tx_hash);
  });

  it('frees its nonce after the deadline of its batch', async () => {
    const { request } = await getStuck();
    await chain.provider.send('evm_setNextBlockTimestamp', [request.batch.deadline + 1]);
    await mineAt(10n ** 12n);
    await mineAt(10n ** 12n);
    nowMs += 120_000;
    await relay();
    const cancel = Transaction.from((await transactions())[1]?.raw_transaction ?? '');
    expect([cancel.to, cancel.value, cancel.data]).toEqual([poolChain.relayerAddress, 0n, '0x']);
    await settleDown();
    expect(await states()).toEqual([
      [0, 'fund', 'dropped'],
      [0, 'cancel', 'cancelled'],
    ]);
    await relay();
    const record = await recordOf();
    expect([record.state, record.error?.code]).toEqual(['reverted', 'authorization-expired']);
    expect(await batchCount()).toBe(0n);
    // The next settlement finds a nonce that works.
    const target = await chain.settlementTarget();
    const next = await createTestSettlement(target, { eligibilityRoot, jobKey: 'job-2' });
    await accept(next.request, 'job-2');
    await relay();
    await settleDown();
    expect((await recordOf('job-2')).state).toBe('settled');
  });

  it('delays the transactions behind it, which are not replaced', async () => {
    await getStuck('job-1');
    const target = await chain.settlementTarget();
    const next = await createTestSettlement(target, { eligibilityRoot, jobKey: 'job-2' });
    await accept(next.request, 'job-2');
    await relay();
    nowMs += 120_000;
    await relay();
    expect(await states()).toEqual([
      [0, 'fund', 'open'],
      [1, 'fund', 'open'],
      [0, 'fund', 'open'],
    ]);
    await settleDown();
    expect([(await recordOf('job-1')).state, (await recordOf('job-2')).state]).toEqual([
      'settled',
      'settled',
    ]);
  });

  it('counts as reverted once it is final, also when the node has pruned the state around it', async () => {
    const target = await chain.settlementTarget();
    await accept((await createTestSettlement(target, { eligibilityRoot })).request);
    await relay();
    // The revocation pays more and goes first in the same block.
    const fees = { maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n };
    await chain.registry('gate').revoke(fees);
    await chain.mine(3);
    await relay({
      ...poolChain,
      fetchRevertReason: () => Promise.reject(new Error('missing trie node')),
    });
    const [sent] = await transactions();
    expect(sent?.state).toBe('reverted');
    const record = await recordOf();
    expect([record.state, record.error?.code, record.txHash]).toEqual([
      'reverted',
      'reverted',
      sent?.tx_hash,
    ]);
  });
});
