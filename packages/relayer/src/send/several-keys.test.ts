/** A chain with two accounts of the relayer, and nonces that were decided in error, on a real chain. */
import {
  assertField,
  computeVoidBatchData,
  fieldToHex,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import { startLyingProxy } from '@pool/testkit';
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
import { createRelayer, runRelayerPass } from './relayer.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const keys = ['relayer', 'stranger'] as const;

describe('relayers of two keys', () => {
  let chain: TestChain;
  let chains: PoolChain[];
  let database: TestDatabase;
  let snapshot: string;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    await chain.fundFunder(1_000_000n);
    const pool = chain.pool().connect(chain.wallet('deployer'));
    await pool.getFunction('grantRole')(id('RELAYER_ROLE'), chain.wallet('stranger').address);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    chains = keys.map((key) => createEvmPoolChain('anvil', chain.settings, chain.key(key)));
    await database.reset();
    await insertTestEmployer(database.db);
  });
  afterEach(async () => {
    for (const each of chains) each.close();
    await chain.restore(snapshot);
  });

  const addresses = () => chains.map(({ relayerAddress }) => relayerAddress);
  function open(index: number, on = chains[index], among = addresses) {
    if (on === undefined) throw new Error('no such key');
    return createRelayer({
      ...{ db: database.db, chain: on, log, nowMs: Date.now, replaceAfterMs: 120_000 },
      addresses: among,
    });
  }
  const first = (): PoolChain => {
    const [one] = chains;
    if (one === undefined) throw new Error('no key');
    return one;
  };
  async function accept(count: number, from = 0): Promise<void> {
    const deps = { db: database.db, chains: new Map([['anvil', first()]]), nowMs: Date.now };
    for (let job = from; job < from + count; job += 1) {
      const jobKey = `job-${job}`;
      const target = await chain.settlementTarget();
      const { request } = await createTestSettlement(target, { eligibilityRoot, jobKey });
      await acceptSettlement({ ...deps, checks: fakeChecks }, testEmployerId, jobKey, request);
    }
  }
  const sent = async () =>
    await database.db
      .selectFrom('relayer_transactions')
      .select(['sender', 'submission_id', 'nonce', 'attempt', 'purpose', 'state'])
      .orderBy('id')
      .execute();
  const states = async () =>
    (await database.db.selectFrom('submissions').select('state').execute()).map(
      ({ state }) => state,
    );
  /** One pass of each at the same time. No block comes meanwhile, so the chain's state is the same for all that they send. */
  async function passTogether(relayers: readonly ReturnType<typeof open>[]): Promise<void> {
    await chain.untilMined();
    await chain.provider.send('evm_setAutomine', [false]);
    await Promise.all(relayers.map((relayer) => relayer.pass()));
  }
  async function settleDown(relayers: readonly ReturnType<typeof open>[]): Promise<void> {
    await chain.mine(2);
    await Promise.all(relayers.map((relayer) => relayer.pass()));
    await createIndexer({ db: database.db, chain: first(), log, nowMs: Date.now }).pass();
  }

  /** Of two processes: each signs after both have decided what to send. */
  function signTogether(honest: readonly PoolChain[]): PoolChain[] {
    const both = Promise.withResolvers<undefined>();
    let arrived = 0;
    return honest.map((one) => ({
      ...one,
      relayerAddress: one.relayerAddress,
      async sign(...call) {
        arrived += 1;
        if (arrived === 2) both.resolve(undefined);
        await both.promise;
        return await one.sign(...call);
      },
    }));
  }

  it('divide the settlements, at once, and each follows its own nonces', async () => {
    await accept(4);
    const relayers = [open(0), open(1)];
    await passTogether(relayers);
    expect(await sent()).toHaveLength(4);
    for (const { sender, submission_id } of await sent()) {
      expect(sender).toBe(addresses().toSorted()[submission_id % 2]);
    }
    await settleDown(relayers);
    expect(await states()).toEqual(Array(4).fill('settled'));
    expect((await sent()).map(({ state, attempt }) => [state, attempt])).toEqual(
      Array(4).fill(['succeeded', 0]),
    );
    expect(await chain.pool().batchCount()).toBe(4n);
  });

  it('leave none to nobody, if their processes list the keys in another order', async () => {
    await accept(4);
    const reversed = () => addresses().toReversed();
    await passTogether([open(0), open(1, chains[1], reversed)]);
    expect(await sent()).toHaveLength(4);
  });

  it('leave a submission to the relayer of its key', async () => {
    await accept(2);
    await open(0).pass();
    expect(await sent()).toHaveLength(1);
    await open(0).pass();
    expect(await sent()).toHaveLength(1);
  });

  it('store nothing for a nonce that got another transaction meanwhile, and send nothing', async () => {
    await chain.provider.send('evm_setAutomine', [false]);
    await accept(2);
    const honest = first();
    const start = await honest.fetchNonce();
    // Two processes that both believe to lead the account.
    const [together] = signTogether([honest]);
    // Each with another sibling, before it by address and behind it.
    const passBoth = () =>
      Promise.all(
        ['0', 'z'].map((other) => open(0, together, () => [honest.relayerAddress, other]).pass()),
      );
    await passBoth();
    expect(await sent()).toMatchObject([{ nonce: start, attempt: 0 }]);
    await passBoth();
    expect((await sent()).map(({ nonce }) => nonce)).toEqual([start, start + 1]);
    const pending = await chain.provider.getTransactionCount(honest.relayerAddress, 'pending');
    expect(pending - start).toBe(2);
    await chain.provider.send('evm_setAutomine', [true]);
  });

  it('send one withdrawal, if two of them believe that it is theirs', async () => {
    await chain.provider.send('evm_setAutomine', [false]);
    await accept(1);
    const target = await chain.settlementTarget();
    const { plan } = await createTestSettlement(target, { eligibilityRoot, jobKey: 'job-0' });
    const funder = chain.wallet('funder');
    const { chainId, pool } = chain.settings;
    const address = parseEvmAddress(funder.address);
    const data = computeVoidBatchData(chainId, pool, address, plan.batchNonce);
    const signature = await funder.signTypedData(data.domain, data.types, data.message);
    await database.db.updateTable('submissions').set({ void_signature: signature }).execute();
    await Promise.all(
      signTogether(chains).map((on, index) => open(index, on, () => [on.relayerAddress]).pass()),
    );
    expect(await sent()).toMatchObject([{ purpose: 'void' }]);
    await chain.provider.send('evm_setAutomine', [true]);
  });

  it('hold a batch back that an earlier one of its funder would make fail, until that one is mined', async () => {
    await chain.provider.send('evm_setAutomine', [false]);
    const deps = { db: database.db, chains: new Map([['anvil', first()]]), nowMs: Date.now };
    const passAlone = () =>
      runRelayerPass({
        ...{ db: database.db, chain: first(), log, nowMs: Date.now, replaceAfterMs: 120_000 },
      });
    // The funder has 1,000,000: enough for one of them.
    for (const jobKey of ['one', 'two']) {
      const target = await chain.settlementTarget();
      const amounts = [600_000n, 1n];
      const { request } = await createTestSettlement(target, { eligibilityRoot, jobKey, amounts });
      await acceptSettlement({ ...deps, checks: fakeChecks }, testEmployerId, jobKey, request);
      await passAlone();
    }
    expect(await sent()).toHaveLength(1);
    expect(await states()).toEqual(['submitted', 'accepted']);
    await chain.provider.send('evm_setAutomine', [true]);
    await chain.mine(2);
    await passAlone();
    expect(await sent()).toHaveLength(1);
    expect((await states())[1]).toBe('reverted');
  });

  it('read the receipts of all open nonces in one request', async () => {
    const asked: unknown[] = [];
    const proxy = await startLyingProxy(chain.settings.rpcUrl, [
      {
        path: /./,
        request(body) {
          asked.push(body);
          return body;
        },
      },
    ]);
    const on = createEvmPoolChain(
      'anvil',
      { ...chain.settings, rpcUrl: proxy.url },
      chain.key('relayer'),
    );
    await chain.provider.send('evm_setAutomine', [false]);
    await accept(6);
    const relayer = open(0, on);
    await relayer.pass();
    expect(await sent()).toHaveLength(3);
    asked.length = 0;
    await relayer.pass();
    const receipts = asked.filter((call) => JSON.stringify(call).includes('TransactionReceipt'));
    expect(receipts.map((call) => (Array.isArray(call) ? call.length : 1))).toEqual([3]);
    on.close();
    await proxy.stop();
  });

  it('close a gap that a node caused which counted too many transactions, so that what is behind it lands', async () => {
    await accept(2);
    const honest = first();
    let lies = 1;
    const lying: PoolChain = {
      ...honest,
      relayerAddress: honest.relayerAddress,
      async fetchNonce() {
        const nonce = (await honest.fetchNonce()) + (lies > 0 ? 2 : 0);
        lies -= 1;
        return nonce;
      },
    };
    const start = await honest.fetchNonce();
    const relayer = open(0, lying);
    await relayer.pass();
    expect(await sent()).toMatchObject([{ nonce: start + 2, purpose: 'fund' }]);
    await chain.mine(2);
    expect(await chain.pool().batchCount()).toBe(0n);
    await relayer.pass();
    expect((await sent()).slice(1)).toMatchObject([
      { nonce: start, purpose: 'cancel', attempt: 0 },
      { nonce: start + 1, purpose: 'cancel', attempt: 0 },
    ]);
    await settleDown([relayer]);
    await settleDown([relayer]);
    expect((await sent()).map(({ state }) => state)).toEqual([
      'succeeded',
      'cancelled',
      'cancelled',
    ]);
    expect(await chain.pool().batchCount()).toBe(1n);
  });

  it('close a nonce whose transaction was given up before the chain used it', async () => {
    await chain.provider.send('evm_setAutomine', [false]);
    await accept(4);
    const start = await first().fetchNonce();
    await open(0).pass();
    expect((await sent()).map(({ nonce }) => nonce)).toEqual([start, start + 1]);
    // As under another key, for a batch that can no longer land.
    const { tx_hash } = await database.db
      .updateTable('relayer_transactions')
      .set({ state: 'dropped' })
      .where('nonce', '=', start)
      .returning('tx_hash')
      .executeTakeFirstOrThrow();
    await chain.provider.send('anvil_dropTransaction', [tx_hash]);
    await open(0).pass();
    expect((await sent()).slice(2)).toMatchObject([
      { nonce: start, purpose: 'cancel', attempt: 1 },
    ]);
    await chain.provider.send('evm_setAutomine', [true]);
    await chain.mine(2);
    expect(await first().fetchNonce()).toBe(start + 2);
  });

  it('send other batches while the fees are too high to close a gap', async () => {
    await accept(2);
    const honest = first();
    const start = await honest.fetchNonce();
    let ahead = 2;
    const dear: PoolChain = {
      ...honest,
      relayerAddress: honest.relayerAddress,
      fetchNonce: async () => (await honest.fetchNonce()) + ahead,
      signCancel: () => Promise.reject(new PoolError('fee_cap_reached', 'too dear')),
    };
    const relayer = open(0, dear);
    await relayer.pass();
    ahead = 0;
    await accept(2, 2);
    await relayer.pass();
    expect((await sent()).map(({ nonce }) => nonce)).toEqual([start + 2, start + 3]);
  });
});
