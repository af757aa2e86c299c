/** The relayer's account changes while transactions of the old one are open, on a real chain. */
import { assertField, fieldToHex } from '@pool/core';
import { soleLeader } from '@pool/database';
import { id } from 'ethers';
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
import { createIndexer } from '../indexer/indexer.ts';
import { describeSettlement } from '../store/settlement-store.ts';
import { findSubmission } from '../store/submissions.ts';
import { createRelayer, runRelayerPass } from './relayer.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);

describe('a relayer that starts with another key while transactions of the old one are open', () => {
  let chain: TestChain;
  let before: PoolChain;
  let after: PoolChain;
  let database: TestDatabase;
  let snapshot: string;
  let nowMs: number;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    await chain.fundFunder(1_000_000n);
    await changeRole('grantRole', 'stranger');
    // The accounts are at different nonces, as accounts are.
    for (let nonce = 0; nonce < 3; nonce += 1) {
      const { address } = chain.wallet('relayer');
      await (await chain.wallet('relayer').sendTransaction({ to: address })).wait();
    }
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    before = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
    after = createEvmPoolChain('anvil', chain.settings, chain.key('stranger'));
    await database.reset();
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    await insertTestEmployer(database.db);
    await chain.provider.send('evm_setAutomine', [false]);
    await mineAt(10n ** 9n);
  });
  afterEach(async () => {
    before.close();
    after.close();
    await chain.restore(snapshot);
  });

  /** The next block has it, before what offers less. */
  async function changeRole(
    change: 'grantRole' | 'revokeRole',
    role: 'guardian' | 'stranger',
    feeWei = 100n * 10n ** 9n,
  ): Promise<void> {
    const pool = chain.pool().connect(chain.wallet('deployer'));
    await pool.getFunction(change)(id('RELAYER_ROLE'), chain.wallet(role).address, {
      maxFeePerGas: feeWei * 2n,
      maxPriorityFeePerGas: feeWei * 2n,
    });
    await chain.mine(1);
  }
  async function mineAt(baseFee: bigint): Promise<void> {
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    await chain.mine(1);
  }
  const relay = (on: PoolChain) =>
    runRelayerPass({
      db: database.db,
      chain: on,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 120_000,
    });
  async function accept(jobKey: string): Promise<void> {
    const target = await chain.settlementTarget();
    const { request } = await createTestSettlement(target, { eligibilityRoot, jobKey });
    const chains = new Map([['anvil', before]]);
    const deps = { db: database.db, chains, checks: fakeChecks, nowMs: () => nowMs };
    await acceptSettlement(deps, testEmployerId, jobKey, request);
  }
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay(after);
    await createIndexer({ db: database.db, chain: after, log, nowMs: Date.now }).pass();
  }
  async function recordOf(jobKey: string) {
    const row = await findSubmission(database.db, testEmployerId, jobKey);
    if (row === undefined) throw new Error('no row');
    return await describeSettlement(database.db, row);
  }
  const rows = async () =>
    (await database.db.selectFrom('relayer_transactions').selectAll().orderBy('id').execute()).map(
      ({ sender, nonce, purpose, state }) => [sender, nonce, purpose, state],
    );
  const hashes = async () =>
    (await database.db.selectFrom('relayer_transactions').select('tx_hash').execute()).map(
      ({ tx_hash }) => tx_hash,
    );
  const addressOf = (role: 'relayer' | 'stranger') => chain.wallet(role).address;

  it('counts the nonces of each account by itself and replaces nothing of the old one: both settlements land', async () => {
    await accept('job-1');
    await relay(before);
    await accept('job-2');
    // Long after a transaction of its own would have been replaced.
    nowMs += 600_000;
    await relay(after);
    expect(await rows()).toEqual([
      [addressOf('relayer'), 3, 'fund', 'open'],
      [addressOf('stranger'), 0, 'fund', 'open'],
    ]);
    await settleDown();
    expect(await rows()).toEqual([
      [addressOf('relayer'), 3, 'fund', 'succeeded'],
      [addressOf('stranger'), 0, 'fund', 'succeeded'],
    ]);
    expect((await recordOf('job-1')).state).toBe('settled');
    expect((await recordOf('job-2')).state).toBe('settled');
    expect(await chain.pool().batchCount()).toBe(2n);
  });

  it('leads the old account only during a pass: a process that has its key can also replace', async () => {
    await accept('job-1');
    await relay(before);
    const left: string[] = [];
    let leadsOld = false;
    const { pass } = createRelayer({
      ...{ db: database.db, chain: after, log, nowMs: () => nowMs, replaceAfterMs: 120_000 },
      leaders: {
        ...soleLeader,
        term: (role) =>
          leadsOld || role.endsWith(after.relayerAddress) ? soleLeader.term(role) : undefined,
        leave: (role) => left.push(role),
      },
    });
    // Another process leads it: this one goes on standing for it.
    await pass();
    expect(left).toEqual([]);
    leadsOld = true;
    await pass();
    expect(left).toEqual([`relayer anvil ${before.relayerAddress}`]);
  });

  it('sends the bytes of the old account again if the node lost them', async () => {
    await accept('job-1');
    await relay(before);
    const [txHash] = await hashes();
    await chain.provider.send('anvil_dropTransaction', [txHash]);
    await relay(after);
    await settleDown();
    expect((await recordOf('job-1')).txHash).toBe(txHash);
  });

  it('ends a settlement whose bytes of the old account were never mined, unpaid and only after its deadline', async () => {
    await accept('job-1');
    await relay(before);
    await mineAt(10n ** 12n);
    nowMs += 600_000;
    await relay(after);
    expect(await rows()).toEqual([[addressOf('relayer'), 3, 'fund', 'open']]);
    expect((await recordOf('job-1')).state).toBe('submitted');
    await chain.passTime(7_200);
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', ['0xe8d4a51000']);
    await chain.mine(3);
    await relay(after);
    await relay(after);
    await relay(after);
    expect(await rows()).toEqual([[addressOf('relayer'), 3, 'fund', 'dropped']]);
    const record = await recordOf('job-1');
    expect([record.state, record.error?.code]).toEqual(['reverted', 'authorization-expired']);
    expect(await chain.pool().batchCount()).toBe(0n);
  });

  it('keeps a settlement while its account lacks the role, and settles it once it has it', async () => {
    const outsider = createEvmPoolChain('anvil', chain.settings, chain.key('guardian'));
    await accept('job-1');
    await relay(outsider);
    expect((await recordOf('job-1')).state).toBe('accepted');
    await changeRole('grantRole', 'guardian');
    await relay(outsider);
    await settleDown();
    outsider.close();
    expect((await recordOf('job-1')).state).toBe('settled');
  });

  it('tries a settlement again that reverted because the account had lost its role', async () => {
    await accept('job-1');
    await relay(after);
    const pending = await chain.provider.getTransaction((await hashes())[0] ?? '');
    await changeRole('revokeRole', 'stranger', pending?.maxFeePerGas ?? 0n);
    await chain.mine(2);
    await relay(after);
    await relay(after);
    expect(await rows()).toEqual([[addressOf('stranger'), 0, 'fund', 'reverted']]);
    expect((await recordOf('job-1')).state).toBe('accepted');
    await changeRole('grantRole', 'stranger');
    await relay(after);
    await settleDown();
    expect((await recordOf('job-1')).state).toBe('settled');
    expect(await chain.pool().batchCount()).toBe(1n);
  });
});
