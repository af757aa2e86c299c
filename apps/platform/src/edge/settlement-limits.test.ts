/** Limits of one employer: the lifetime of an authorisation, and the gas per day. */
import {
  assertField,
  computeVoidBatchData,
  type Field,
  fieldToHex,
  parseEvmAddress,
  parseHex,
  type Secret,
} from '@pool/core';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { voidGasCeiling } from '../../../../packages/contracts/src/calls/gas-ceilings.ts';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import {
  authorisationSeconds,
  computeReserve,
  defaultSettlementLimits,
} from '../../../../packages/relayer/src/budget/limits.ts';
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
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
/** What one batch of 16 may cost with its withdrawal. */
const whole = computeReserve(16) + Number(voidGasCeiling);
const hour = 3_600_000;

describe('the limits of a settlement', () => {
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
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    await database.reset();
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  type Opened = { readonly platform: TestPlatform; readonly edge: EdgeClient; token: Secret };

  async function open(dailyGas: number, who = 'a'): Promise<Opened> {
    const platform = createTestPlatform(database, {
      poolChains: new Map([['anvil', poolChain]]),
      settlementLimits: {
        ...defaultSettlementLimits,
        dailyGas,
        deadlineSeconds: authorisationSeconds,
      },
    });
    platform.clock.nowMs = Date.now();
    const { url, fetch, edgeToken } = platform;
    const { token } = await edgeToken((await createTestHolder(who)).address);
    return {
      platform,
      token,
      edge: createEdgeClient({ url: `${url}/agent-edge`, token, fetch }),
    };
  }
  const settle = async (options: { jobKey?: string; deadline?: number; root?: Field } = {}) =>
    await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot: options.root ?? eligibilityRoot,
      ...options,
    });
  const relay = () =>
    runRelayerPass({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: Date.now,
      replaceAfterMs: 120_000,
    });
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay();
    await indexer.pass();
  }
  async function post({ platform, token }: Opened, { request }: TestSettlement, key: string) {
    const response = await platform.fetch(`${platform.url}/agent-edge/settlements`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
        'idempotency-key': `"${key}"`,
      },
      body: JSON.stringify(request),
    });
    const body = (await response.json()) as { code?: string; state?: string };
    const retryAfter = response.headers.get('retry-after');
    return [response.status, body.code ?? body.state, retryAfter === null ? null : +retryAfter];
  }
  const gasUsed = async () =>
    (await database.db.selectFrom('relayer_transactions').select('gas_used').execute()).map(
      ({ gas_used }) => gas_used ?? 0,
    );

  describe('by its deadline', () => {
    it('accepts the deadlines that agents sign, and refuses a later one with the limit and the remedy', async () => {
      const { edge } = await open(10 * whole);
      const now = Math.floor(Date.now() / 1_000);
      await edge.postSettlement('job-1', (await settle({ deadline: now + 4_500 })).request);
      const far = await settle({ jobKey: 'job-2', deadline: now + 9_000 });
      await expect(edge.postSettlement('job-2', far.request)).rejects.toMatchObject({
        code: 'deadline_too_far',
        status: 400,
        message: expect.stringMatching(
          /7200 seconds.*DISBURSE_VOTE_LIMIT.*DISBURSE_BATCH_DEADLINE_SECONDS.*PLATFORM_VOTE/,
        ),
      });
      expect(await edge.getSettlement('job-2')).toBeUndefined();
    });

    it('counts from the chain’s clock if it is ahead of this machine’s', async () => {
      const opened = await open(10 * whole);
      opened.platform.clock.nowMs -= 10 * hour;
      expect((await post(opened, await settle(), 'job-1'))[0]).toBe(202);
    });

    it('answers a replay of a settlement that an earlier version accepted, for any deadline', async () => {
      const { edge } = await open(10 * whole);
      const { request } = await settle();
      await edge.postSettlement('job-1', request);
      const deadline = request.batch.deadline + 1_000_000;
      await database.db.updateTable('submissions').set({ deadline }).execute();
      const again = { ...request, batch: { ...request.batch, deadline } };
      // The signature of a replay is not checked: only the authorised content is compared.
      expect((await edge.postSettlement('job-1', again)).state).toBe('accepted');
    });
  });

  describe('by the gas of its employer', () => {
    it('answers 429 with a retry time when the daily gas is used up, except to replays and other employers', async () => {
      const opened = await open(whole);
      const first = await settle();
      expect(await post(opened, first, 'job-1')).toEqual([202, 'accepted', null]);
      const second = await settle({ jobKey: 'job-2' });
      expect(await post(opened, second, 'job-2')).toEqual([429, 'gas_budget_exceeded', 60]);
      expect(await post(opened, first, 'job-1')).toEqual([202, 'accepted', null]);
      const other = await open(whole, 'b');
      expect((await post(other, second, 'job-2'))[0]).toBe(202);
    });

    it('counts the gas that a settlement used once it is final, also after a restart', async () => {
      await post(await open(whole), await settle(), 'job-1');
      await relay();
      // Sent and not final: its limit and its withdrawal count.
      const second = await settle({ jobKey: 'job-2' });
      expect((await post(await open(whole), second, 'job-2'))[0]).toBe(429);
      await settleDown();
      const [used = 0] = await gasUsed();
      expect(used).toBeGreaterThan(0);
      expect((await post(await open(whole + used - 1), second, 'job-2'))[0]).toBe(429);
      expect((await post(await open(whole + used), second, 'job-2'))[0]).toBe(202);
    });

    it('names the time when the oldest use is a day old, and accepts the next settlement then', async () => {
      await post(await open(whole), await settle(), 'job-1');
      await relay();
      await settleDown();
      const opened = await open(whole);
      opened.platform.clock.nowMs += 20 * hour;
      const again = await settle({
        jobKey: 'job-2',
        deadline: Math.floor(Date.now() / 1e3) + 4_000,
      });
      const [status, code, seconds] = await post(opened, again, 'job-2');
      expect([status, code]).toEqual([429, 'gas_budget_exceeded']);
      expect(Number(seconds)).toBeGreaterThan(3.9 * 3_600);
      expect(Number(seconds)).toBeLessThan(4.1 * 3_600);
      opened.platform.clock.nowMs += 4.1 * hour;
      expect((await post(opened, again, 'job-2'))[0]).toBe(202);
    });

    it('counts only the possible withdrawal of a batch that the simulation refused', async () => {
      const opened = await open(whole + Number(voidGasCeiling));
      await post(opened, await settle({ root: assertField(777n) }), 'job-1');
      await relay();
      expect((await opened.edge.getSettlement('job-1'))?.state).toBe('reverted');
      // Another try of the same key replaces the first.
      expect((await post(opened, await settle({ root: assertField(777n) }), 'job-1'))[0]).toBe(202);
      await relay();
      expect((await post(opened, await settle({ jobKey: 'job-2' }), 'job-2'))[0]).toBe(202);
      expect((await post(opened, await settle({ jobKey: 'job-3' }), 'job-3'))[0]).toBe(429);
    });

    it('counts the gas of a reverted transaction', async () => {
      await post(await open(whole), await settle(), 'job-1');
      await chain.provider.send('evm_setAutomine', [false]);
      await relay();
      const fees = { maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n };
      await chain.registry('gate').revoke(fees);
      await settleDown();
      const [burned = 0] = await gasUsed();
      expect(burned).toBeGreaterThan(0);
      const next = await settle({ jobKey: 'job-2' });
      const enough = whole + burned + Number(voidGasCeiling);
      expect((await post(await open(enough - 1), next, 'job-2'))[0]).toBe(429);
      expect((await post(await open(enough), next, 'job-2'))[0]).toBe(202);
    });

    it('accepts one of two concurrent settlements if only one fits', async () => {
      const opened = await open(whole);
      const [one, two] = [await settle(), await settle({ jobKey: 'job-2' })];
      const answers = await Promise.all([post(opened, one, 'job-1'), post(opened, two, 'job-2')]);
      expect(answers.map(([status]) => status).toSorted()).toEqual([202, 429]);
    });

    it('never refuses a withdrawal', async () => {
      const opened = await open(whole);
      const settlement = await settle();
      await post(opened, settlement, 'job-1');
      expect((await post(opened, await settle({ jobKey: 'job-2' }), 'job-2'))[0]).toBe(429);
      const funder = chain.wallet('funder');
      const { chainId, pool } = chain.settings;
      const { domain, types, message } = computeVoidBatchData(
        chainId,
        pool,
        parseEvmAddress(funder.address),
        settlement.plan.batchNonce,
      );
      const signature = parseHex(await funder.signTypedData(domain, types, message));
      const { batchNonce } = settlement.request.batch;
      const withdrawal = { chain: 'anvil', funder: funder.address, batchNonce, signature };
      await opened.edge.postVoid('job-1', withdrawal);
      await relay();
      await settleDown();
      const record = await opened.edge.getSettlement('job-1');
      expect([record?.state, record?.error?.code]).toEqual(['reverted', 'batch_voided']);
    });
  });
});
