/** Withdrawn batches, from the edge's route to the chain, with the real contracts (only the verifier is a fake). */

import type { VoidRequest } from '@pool/api';
import { connectShieldedPool } from '@pool/contracts';
import {
  assertField,
  computeVoidBatchData,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseHex,
} from '@pool/core';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { Transaction } from 'ethers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { defaultSettlementLimits } from '../../../../packages/relayer/src/budget/limits.ts';
import {
  createEvmPoolChain,
  type PoolChain,
} from '../../../../packages/relayer/src/chain/pool-chain.ts';
import { createIndexer, type Indexer } from '../../../../packages/relayer/src/indexer/indexer.ts';
import { runRelayerPass } from '../../../../packages/relayer/src/send/relayer.ts';
import { startTestChain, type TestChain } from '../../../../packages/relayer/test/test-chain.ts';
import {
  createTestSettlement,
  type TestSettlement,
} from '../../../../packages/relayer/test/test-settlement.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);

describe('a batch that its funder withdraws', () => {
  let chain: TestChain;
  let poolChain: PoolChain;
  let database: TestDatabase;
  let indexer: Indexer;
  let snapshot: string;
  let edge: EdgeClient;
  let nowMs: number;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    const root = fieldToHex(eligibilityRoot);
    await (await chain.registry('gate').publish(root)).wait();
    await chain.fundFunder(1_000_000n);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    // A snapshot does not contain the next block's base fee.
    await mineAt(10n ** 9n);
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    await database.reset();
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
    nowMs = Date.parse('2026-11-22T10:00:00Z');
    edge = await createEdge('a');
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  async function createEdge(name: string, options = {}): Promise<EdgeClient> {
    const { url, fetch, edgeToken } = createTestPlatform(database, {
      poolChains: new Map([['anvil', poolChain]]),
      ...options,
    });
    const { token } = await edgeToken((await createTestHolder(name)).address);
    return createEdgeClient({ url: `${url}/agent-edge`, token, fetch });
  }
  const settle = async (options: { jobKey?: string; attempt?: number; deadline?: number } = {}) =>
    await createTestSettlement(await chain.settlementTarget(), { eligibilityRoot, ...options });
  async function withdraw({ request, plan }: TestSettlement): Promise<VoidRequest> {
    const funder = chain.wallet('funder');
    const { chainId, pool } = chain.settings;
    const { domain, types, message } = computeVoidBatchData(
      chainId,
      pool,
      parseEvmAddress(funder.address),
      plan.batchNonce,
    );
    const signature = parseHex(await funder.signTypedData(domain, types, message));
    const { batchNonce } = request.batch;
    return { chain: 'anvil', funder: funder.address, batchNonce, signature };
  }
  const relay = (on: PoolChain = poolChain) =>
    runRelayerPass({
      db: database.db,
      chain: on,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 120_000,
    });
  /** A block on top makes everything before it final, then both workers run. */
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay();
    await indexer.pass();
  }
  async function mineAt(baseFee: bigint): Promise<void> {
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    await chain.mine(1);
  }
  const automine = (on: boolean) => chain.provider.send('evm_setAutomine', [on]);
  async function outcome(key = 'job-1') {
    const record = await edge.getSettlement(key);
    return [record?.state, record?.error?.code];
  }
  const transactions = async () =>
    (await database.db.selectFrom('relayer_transactions').selectAll().orderBy('id').execute()).map(
      ({ nonce, purpose, state }) => [nonce, purpose, state],
    );
  const isVoided = (batchNonce: Hex32) =>
    chain.pool().isVoided(chain.wallet('funder').address, batchNonce);
  const batchCount = () => chain.pool().batchCount();
  const sentCount = () => chain.provider.getTransactionCount(chain.wallet('relayer').address);

  it('and that was never posted is withdrawn all the same, and can never be posted', async () => {
    const settlement = await settle();
    const { batch } = settlement.request;
    const request = { ...(await withdraw(settlement)), batch };
    const answered = await edge.postVoid('job-1', request);
    expect([answered.state, answered.sealedNotes]).toEqual(['accepted', []]);
    expect((await edge.postVoid('job-1', request)).state).toBe('accepted');
    expect((await edge.postSettlement('job-1', settlement.request)).state).toBe('accepted');
    await relay();
    await settleDown();
    expect(await isVoided(batch.batchNonce)).toBe(true);
    await relay();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect(await batchCount()).toBe(0n);
    expect((await transactions()).map(([, purpose]) => purpose)).toEqual(['void']);
  });

  it('and that was refused for its far deadline is withdrawn', async () => {
    const settlement = await settle({ deadline: 4_000_000_000 });
    const { request } = settlement;
    edge = await createEdge('a', { settlementLimits: defaultSettlementLimits });
    await expect(edge.postSettlement('job-1', request)).rejects.toMatchObject({
      code: 'deadline_too_far',
    });
    const withdrawal = { ...(await withdraw(settlement)), batch: request.batch };
    expect((await edge.postVoid('job-1', withdrawal)).state).toBe('accepted');
    await relay();
    await settleDown();
    expect(await isVoided(request.batch.batchNonce)).toBe(true);
    await relay();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
  });

  it('and that was never posted is refused with a batch of another nonce, and without a batch', async () => {
    const [settlement, other] = [await settle(), await settle({ jobKey: 'other' })];
    const request = await withdraw(settlement);
    await expect(edge.postVoid('job-1', request)).rejects.toMatchObject({ code: 'not_found' });
    const foreign = { ...request, batch: other.request.batch };
    await expect(edge.postVoid('job-1', foreign)).rejects.toMatchObject({
      code: 'invalid_settlement',
    });
    expect(await edge.getSettlement('job-1')).toBeUndefined();
  });

  it('is never sent if nothing was sent yet, and ends reverted once the withdrawal is final', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const answered = await edge.postVoid('job-1', await withdraw(settlement));
    expect([answered.key, answered.state]).toEqual(['job-1', 'accepted']);
    await relay();
    expect(await outcome()).toEqual(['submitted', undefined]);
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect(await transactions()).toEqual([[0, 'void', 'succeeded']]);
    expect(await isVoided(settlement.request.batch.batchNonce)).toBe(true);
    // Neither a replay nor a fresh proof of the same authorisation brings it back.
    expect((await edge.postSettlement('job-1', settlement.request)).state).toBe('reverted');
    await relay();
    expect([await sentCount(), await batchCount()]).toEqual([1, 0n]);
  });

  it('takes the nonce of its own fund() while that is not mined', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    await automine(false);
    await relay();
    await edge.postVoid('job-1', await withdraw(settlement));
    await relay();
    expect(await transactions()).toEqual([
      [0, 'fund', 'open'],
      [0, 'void', 'open'],
    ]);
    // The withdrawal itself is replaced like any other transaction, by a withdrawal.
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', [
      `0x${(10n ** 12n).toString(16)}`,
    ]);
    await chain.mine(1);
    nowMs += 1_000_000;
    await relay();
    const rows = await database.db
      .selectFrom('relayer_transactions')
      .select(['purpose', 'raw_transaction'])
      .orderBy('id')
      .execute();
    expect(rows.map(({ purpose }) => purpose)).toEqual(['fund', 'void', 'void']);
    const [, first, second] = rows.map((row) => Transaction.from(row.raw_transaction));
    expect(second?.data).toBe(first?.data);
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect([await sentCount(), await batchCount()]).toEqual([1, 0n]);
  });

  it('settles when its fund() is mined first; nothing is sent for the withdrawal', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    await relay();
    // Mined at the head, not final: the contract refuses the withdrawal already.
    expect((await edge.postVoid('job-1', await withdraw(settlement))).state).toBe('submitted');
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['settled', undefined]);
    expect([await sentCount(), await batchCount()]).toEqual([1, 1n]);
  });

  it('settles when its fund() is mined before a withdrawal that was sent', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    await automine(false);
    await relay();
    const fund = await database.db
      .selectFrom('relayer_transactions')
      .select('raw_transaction')
      .executeTakeFirstOrThrow();
    await edge.postVoid('job-1', await withdraw(settlement));
    await relay({ ...poolChain, broadcast: () => Promise.resolve() });
    await poolChain.broadcast(fund.raw_transaction);
    await settleDown();
    expect(await outcome()).toEqual(['settled', undefined]);
    expect(await transactions()).toEqual([
      [0, 'fund', 'succeeded'],
      [0, 'void', 'dropped'],
    ]);
    await relay();
    expect([await sentCount(), await batchCount()]).toEqual([1, 1n]);
  });

  it.each(['before', 'after'] as const)(
    'is withdrawn once through a crash right %s the broadcast',
    async (when) => {
      const settlement = await settle();
      await edge.postSettlement('job-1', settlement.request);
      await edge.postVoid('job-1', await withdraw(settlement));
      await relay({
        ...poolChain,
        broadcast: async (raw) => {
          if (when === 'after') await poolChain.broadcast(raw);
          throw new Error('SIGKILL');
        },
      });
      await relay();
      await settleDown();
      expect(await outcome()).toEqual(['reverted', 'batch_voided']);
      expect([await sentCount(), await batchCount()]).toEqual([1, 0n]);
    },
  );

  it('is not sent by a pass that read it before the withdrawal arrived', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    await relay({
      ...poolChain,
      sign: async (call, nonce, gasLimit) => {
        await edge.postVoid('job-1', request);
        return await poolChain.sign(call, nonce, gasLimit);
      },
    });
    expect([await transactions(), await sentCount()]).toEqual([[], 0]);
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect(await batchCount()).toBe(0n);
  });

  it('is withdrawn although a simulation of fund() fails while the withdrawal arrives', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    await relay({
      ...poolChain,
      simulate: async () => {
        await edge.postVoid('job-1', request);
        return { code: 'erc20-insufficient-balance', message: 'too little' };
      },
    });
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
  });

  it('takes the nonce at capped fees when no better offer is allowed', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    // It is signed and stored, and no node has it.
    await relay({ ...poolChain, broadcast: async () => undefined });
    await edge.postVoid('job-1', await withdraw(settlement));
    await relay({
      ...poolChain,
      signReplacement: async () => {
        throw new PoolError('fee_cap_reached', 'above the cap');
      },
    });
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect(await batchCount()).toBe(0n);
  });

  it('is withdrawn also when its fund() had reverted, since the authorisation is still valid', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    await (await chain.registry('gate').revoke()).wait();
    await relay();
    expect(await outcome()).toEqual(['reverted', 'eligibility-root-not-accepted']);
    const request = await withdraw(settlement);
    expect((await edge.postVoid('job-1', request)).state).toBe('submitted');
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    // A repetition returns the stored record, and the next attempt may use the key.
    expect((await edge.postVoid('job-1', request)).error?.code).toBe('batch_voided');
    const next = await settle({ attempt: 2 });
    expect((await edge.postSettlement('job-1', next.request)).state).toBe('accepted');
  });

  it('ends reverted when another sender withdrew it', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    const pool = connectShieldedPool(chain.settings.pool, chain.wallet('stranger'));
    await (await pool.voidBatch(request.funder, request.batchNonce, request.signature)).wait();
    await chain.mine(2);
    await edge.postVoid('job-1', request);
    await relay();
    expect(await outcome()).toEqual(['reverted', 'batch_voided']);
    expect(await sentCount()).toBe(0);
  });

  it('ends reverted when its deadline passes before the withdrawal lands', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    await edge.postVoid('job-1', await withdraw(settlement));
    const { deadline } = settlement.request.batch;
    await chain.provider.send('evm_setNextBlockTimestamp', [deadline + 1]);
    await chain.mine(2);
    await relay();
    expect(await outcome()).toEqual(['reverted', 'authorization-expired']);
    expect(await sentCount()).toBe(0);
  });

  it('is not withdrawn by another signature: 400, nothing stored, no gas', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    const { funderSignature } = settlement.request;
    for (const signature of [funderSignature, `0x${'11'.repeat(65)}`]) {
      await expect(edge.postVoid('job-1', { ...request, signature })).rejects.toMatchObject({
        code: 'invalid_settlement',
        status: 400,
      });
    }
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['settled', undefined]);
    expect(await sentCount()).toBe(1);
  });

  it('answers 404 for another employer, key, nonce or funder', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    const notFound = { code: 'not_found', status: 404 };
    const other = await createEdge('b');
    await expect(other.postVoid('job-1', request)).rejects.toMatchObject(notFound);
    await expect(edge.postVoid('job-2', request)).rejects.toMatchObject(notFound);
    const next = await withdraw(await settle({ attempt: 2 }));
    await expect(edge.postVoid('job-1', next)).rejects.toMatchObject(notFound);
    const { address } = chain.wallet('stranger');
    await expect(edge.postVoid('job-1', { ...request, funder: address })).rejects.toMatchObject(
      notFound,
    );
    const row = await database.db
      .selectFrom('submissions')
      .select('void_signature')
      .executeTakeFirstOrThrow();
    expect(row.void_signature).toBeNull();
    expect((await edge.postVoid('job-1', request)).state).toBe('accepted');
  });

  it('answers 503 and stores nothing while the RPC does not answer', async () => {
    const settlement = await settle();
    await edge.postSettlement('job-1', settlement.request);
    const request = await withdraw(settlement);
    const down = { ...poolChain, simulate: () => Promise.reject(new Error('ECONNREFUSED')) };
    const { url, fetch, edgeToken } = createTestPlatform(database, {
      poolChains: new Map([['anvil', down]]),
    });
    const { token } = await edgeToken((await createTestHolder('a')).address);
    const client = createEdgeClient({ url: `${url}/agent-edge`, token, fetch });
    await expect(client.postVoid('job-1', request)).rejects.toMatchObject({
      code: 'chain_unreachable',
      status: 503,
    });
    await relay();
    await settleDown();
    expect(await outcome()).toEqual(['settled', undefined]);
  });
});
