/** The money path against a real chain with the real contracts (only the verifier is a fake). */

import type { SettlementRequest } from '@pool/api';
import { connectShieldedPool, mintTestToken } from '@pool/contracts';
import { assertField, computeVoidBatchData, fieldToHex, parseEvmAddress } from '@pool/core';
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

describe('settlement flow', () => {
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
    await openFreshPlatform();
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  async function openFreshPlatform(): Promise<void> {
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    await database.reset();
    indexer = createIndexer({ db: database.db, chain: poolChain, log, nowMs: Date.now });
    await insertTestEmployer(database.db);
  }

  const makeSettlement = async (
    options: Partial<Parameters<typeof createTestSettlement>[1]> = {},
  ) => await createTestSettlement(await chain.settlementTarget(), { eligibilityRoot, ...options });

  const deps = () => ({
    db: database.db,
    chain: poolChain,
    log,
    nowMs: Date.now,
    replaceAfterMs: 120_000,
  });
  const acceptIn = ({ db }: TestDatabase, request: SettlementRequest, key: string) => {
    const deps = {
      db,
      chains: new Map([['anvil', poolChain]]),
      checks: fakeChecks,
      nowMs: Date.now,
    };
    return acceptSettlement(deps, testEmployerId, key, request);
  };
  const accept = (request: SettlementRequest, key = 'job-1') => acceptIn(database, request, key);
  async function relay(): Promise<void> {
    await runRelayerPass(deps());
    await chain.untilMined();
  }
  async function sendElsewhere(request: SettlementRequest): Promise<void> {
    const other = await openTestDatabase();
    await insertTestEmployer(other.db);
    await acceptIn(other, request, 'job-1');
    await runRelayerPass({ ...deps(), db: other.db });
    await chain.untilMined();
    await other.close();
  }
  /** A block on top makes everything before it final, then both workers run. */
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
  const batchCount = () => chain.pool().batchCount();

  it('settles a batch once it is final, with hash, block and gas of its transaction', async () => {
    const { request, plan } = await makeSettlement();
    expect((await accept(request)).state).toBe('accepted');
    expect(await batchCount()).toBe(0n);
    await relay();
    expect((await recordOf()).state).toBe('submitted');
    await indexer.pass();
    expect((await recordOf()).state).toBe('submitted');
    await settleDown();
    const record = await recordOf();
    expect(record.state).toBe('settled');
    expect(record.sealedNotes).toEqual(request.sealedNotes);
    const receipt = await chain.provider.getTransactionReceipt(record.txHash ?? '');
    expect(record.blockNumber).toBe(receipt?.blockNumber);
    expect(record.gasUsed).toBe(receipt?.gasUsed.toString());
    expect(await chain.poolBalance()).toBe(plan.total);
  });

  it('sends nothing that the simulation refuses, and accepts a fresh proof for the same authorisation [service.relayer-verifies]', async () => {
    const stale = await makeSettlement({ eligibilityRoot: assertField(777n) });
    await accept(stale.request);
    await relay();
    const refused = await recordOf();
    expect([refused.state, refused.txHash, refused.error?.code]).toEqual([
      'reverted',
      undefined,
      'eligibility-root-not-accepted',
    ]);
    expect(await chain.provider.getTransactionCount(chain.wallet('relayer').address)).toBe(0);
    // Same manifest, same signature, another root and digest.
    const fresh = await makeSettlement({ deadline: stale.request.batch.deadline });
    expect(fresh.request.funderSignature).toBe(stale.request.funderSignature);
    expect((await accept(fresh.request)).state).toBe('accepted');
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
  });

  it('answers a replay with the same row and sends once', async () => {
    const { request } = await makeSettlement();
    const first = await accept(request);
    const [again, andAgain] = await Promise.all([accept(request), accept(request)]);
    expect([again.id, andAgain.id]).toEqual([first.id, first.id]);
    await relay();
    await accept(request);
    await relay();
    await settleDown();
    expect((await accept(request)).state).toBe('settled');
    await settleDown();
    expect(await batchCount()).toBe(1n);
  });

  it('finishes after a crash between storing the signed transaction and sending it', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    const crashing: PoolChain = {
      ...poolChain,
      broadcast: () => Promise.reject(new Error('SIGKILL before the broadcast')),
    };
    await runRelayerPass({ ...deps(), chain: crashing });
    expect((await recordOf()).state).toBe('submitted');
    expect(await batchCount()).toBe(0n);
    await relay();
    expect(await batchCount()).toBe(1n);
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
  });

  it('repeats nothing after a crash that followed the broadcast', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    const crashing: PoolChain = {
      ...poolChain,
      broadcast: async (raw) => {
        await poolChain.broadcast(raw);
        throw new Error('SIGKILL after the broadcast');
      },
    };
    await runRelayerPass({ ...deps(), chain: crashing });
    await relay();
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect(await chain.provider.getTransactionCount(chain.wallet('relayer').address)).toBe(1);
  });

  it('sends a transaction that the node dropped again, byte for byte', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    await chain.provider.send('evm_setAutomine', [false]);
    await relay();
    const [sent] = await transactions();
    await chain.provider.send('anvil_dropTransaction', [sent?.tx_hash]);
    await chain.mine(2);
    expect(await batchCount()).toBe(0n);
    await relay();
    await settleDown();
    expect((await recordOf()).txHash).toBe(sent?.tx_hash);
    expect(await transactions()).toHaveLength(1);
  });

  it('signs again only when a final block shows that another transaction took the nonce', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    await chain.provider.send('evm_setAutomine', [false]);
    await relay();
    const [sent] = await transactions();
    await chain.provider.send('anvil_dropTransaction', [sent?.tx_hash]);
    const relayer = chain.wallet('relayer');
    await relayer.sendTransaction({ to: relayer.address, nonce: sent?.nonce ?? null });
    await chain.mine(1);
    await relay();
    expect((await transactions()).map(({ state }) => state)).toEqual(['open']);
    await chain.mine(1);
    await relay();
    await relay();
    expect((await transactions()).map(({ state, nonce }) => [state, nonce])).toEqual([
      ['dropped', 0],
      ['open', 1],
    ]);
    await chain.mine(1);
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect(await batchCount()).toBe(1n);
  });

  it('assigns a different nonce to every settlement of a pass', async () => {
    const target = await chain.settlementTarget();
    for (const jobKey of ['one', 'two', 'three']) {
      const { request } = await createTestSettlement(target, { eligibilityRoot, jobKey });
      await accept(request, jobKey);
    }
    // None is mined while they are sent, so the chain's own count does not change.
    await chain.provider.send('evm_setAutomine', [false]);
    await relay();
    expect((await transactions()).map(({ nonce }) => nonce)).toEqual([0, 1, 2]);
    await settleDown();
    for (const jobKey of ['one', 'two', 'three']) {
      expect((await recordOf(jobKey)).state).toBe('settled');
    }
    expect(await batchCount()).toBe(3n);
  });

  it('reports the reason when the state changed between simulation and inclusion', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    await chain.provider.send('evm_setAutomine', [false]);
    await relay();
    // The revocation pays more and goes first in the same block.
    await chain
      .registry('gate')
      .revoke({ maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n });
    await chain.mine(1);
    await chain.provider.send('evm_setAutomine', [true]);
    await settleDown();
    const record = await recordOf();
    expect([record.state, record.error?.code]).toEqual([
      'reverted',
      'eligibility-root-not-accepted',
    ]);
    const receipt = await chain.provider.getTransactionReceipt(record.txHash ?? '');
    expect(receipt?.status).toBe(0);
    expect(record.gasUsed).toBe(receipt?.gasUsed.toString());
    expect(await batchCount()).toBe(0n);
    // The same authorisation may be sent again; nothing of the reverted transaction is reported for this attempt.
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    expect((await accept(request)).state).toBe('accepted');
    const reopened = await recordOf();
    expect([reopened.txHash, reopened.blockNumber, reopened.gasUsed, reopened.error]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect((await recordOf()).txHash).not.toBe(record.txHash);
  });

  it('waits for finality before it records a revert', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    await chain.provider.send('evm_setAutomine', [false]);
    await relay();
    await chain
      .registry('gate')
      .revoke({ maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n });
    await chain.mine(1);
    await relay();
    expect((await recordOf()).state).toBe('submitted');
  });

  it('settles a row whose batch landed through another transaction', async () => {
    const { request } = await makeSettlement();
    await accept(request);
    // Another replica, restored from a backup, holds the same key and sends first.
    await sendElsewhere(request);
    await relay();
    await settleDown();
    const record = await recordOf();
    expect(record.state).toBe('settled');
    expect(await chain.provider.getTransactionCount(chain.wallet('relayer').address)).toBe(1);
  });

  it('closes a row whose nonce is used for another batch, and refuses a new one whose nonce is used', async () => {
    const first = await makeSettlement();
    const second = await makeSettlement({ amounts: [5n, 6n] });
    expect(second.request.batch.batchNonce).toBe(first.request.batch.batchNonce);
    await accept(second.request);
    // A second platform with an empty store has the other batch, and sends first.
    await sendElsewhere(first.request);
    await settleDown();
    const record = await recordOf();
    expect([record.state, record.error?.code]).toEqual(['reverted', 'settled_elsewhere']);
    poolChain.close();
    await openFreshPlatform();
    await expect(accept(second.request)).rejects.toMatchObject({ code: 'invalid_settlement' });
    expect((await accept(first.request)).state).toBe('accepted');
  });

  it('refuses another authorisation under the key until the first can never land', async () => {
    const first = await makeSettlement({ eligibilityRoot: assertField(777n) });
    const next = await makeSettlement({ attempt: 2 });
    await accept(first.request);
    await relay();
    await expect(accept(next.request)).rejects.toMatchObject({
      code: 'idempotency_conflict',
      status: 409,
    });
    const mineAt = async (timestamp: number) => {
      await chain.provider.send('evm_setNextBlockTimestamp', [timestamp]);
      await chain.mine(1);
    };
    // The last final block is at the deadline itself: a block of that second can still include it.
    await mineAt(first.request.batch.deadline);
    await mineAt(first.request.batch.deadline + 1);
    await expect(accept(next.request)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await chain.mine(1);
    const later = await makeSettlement({ attempt: 2 });
    expect((await accept(later.request)).state).toBe('accepted');
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
    expect(await batchCount()).toBe(1n);
  });

  it('accepts the next attempt once the first was voided, and never the same nonce', async () => {
    const first = await makeSettlement({ eligibilityRoot: assertField(777n) });
    const sameNonce = await makeSettlement({ amounts: [9n, 9n] });
    const next = await makeSettlement({ attempt: 2 });
    await accept(first.request);
    const funder = chain.wallet('funder');
    const { chainId, pool: poolAddress } = chain.settings;
    const { batchNonce } = first.request.batch;
    const { domain, types, message } = computeVoidBatchData(
      chainId,
      poolAddress,
      parseEvmAddress(funder.address),
      first.plan.batchNonce,
    );
    const signature = await funder.signTypedData(domain, types, message);
    const stranger = chain.wallet('stranger');
    const pool = connectShieldedPool(chain.settings.pool, stranger);
    await (await pool.voidBatch(funder.address, batchNonce, signature)).wait();
    await expect(accept(next.request)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await chain.mine(1);
    await expect(accept(sameNonce.request)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect((await accept(next.request)).state).toBe('accepted');
  });

  it('reports an allowance that is too small, and sends after it is raised', async () => {
    const { request } = await makeSettlement({ amounts: [900_000n, 200_000n] });
    await mintTestToken(
      chain.token,
      chain.wallet('deployer'),
      chain.wallet('funder').address,
      200_000n,
    );
    await accept(request);
    await relay();
    expect((await recordOf()).error?.code).toBe('erc20-insufficient-allowance');
    await chain.fundFunder(1_100_000n);
    await accept(request);
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
  });
});
