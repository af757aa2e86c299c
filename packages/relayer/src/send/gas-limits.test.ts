/** What a hostile funder, or a node that refuses bytes, can do to a relayer's nonces and coin: on a real chain. */

import type { SettlementRequest } from '@pool/api';
import { connectErc20, mintTestToken } from '@pool/contracts';
import { assertField, errorCodeOf, fieldToHex, PoolError } from '@pool/core';
import { Transaction } from 'ethers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { computeFundGasCeiling } from '../../../contracts/src/calls/gas-ceilings.ts';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import type { TransactionCaps } from '../../../evm-sender/src/transaction-signer.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { strangeCode } from '../../test/contract-wallet.ts';
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

describe('the gas of a relayer', () => {
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
    nowMs = Date.now();
    await insertTestEmployer(database.db);
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00']);
    await chain.mine(1);
  });
  afterEach(async () => {
    poolChain.close();
    await setBlockGasLimit(30_000_000);
    await chain.restore(snapshot);
  });

  function openChain(caps: TransactionCaps = {}): void {
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'), caps);
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
  const settle = async (jobKey = 'job-1') =>
    await createTestSettlement(await chain.settlementTarget(), { eligibilityRoot, jobKey });
  const setBlockGasLimit = (gas: number) =>
    chain.provider.send('evm_setBlockGasLimit', [`0x${gas.toString(16)}`]);
  async function settleDown(): Promise<void> {
    await chain.mine(2);
    await relay();
    await indexer.pass();
  }
  async function outcome(key = 'job-1') {
    const row = await findSubmission(database.db, testEmployerId, key);
    if (row === undefined) throw new Error('no row');
    const record = await describeSettlement(database.db, row);
    return [record.state, record.error?.code];
  }
  const transactions = () =>
    database.db.selectFrom('relayer_transactions').selectAll().orderBy('id').execute();
  const states = async () =>
    (await transactions()).map(({ nonce, purpose, state }) => [nonce, purpose, state]);
  /** A settlement whose sent bytes have this gas limit, as an earlier version signed them. */
  async function sendOldBytes(gasLimit: bigint, jobKey = 'job-1'): Promise<string> {
    const { request } = await settle(jobKey);
    await accept(request, jobKey);
    await relay({ ...poolChain, broadcast: async () => undefined });
    const [sent] = await transactions();
    const signed = Transaction.from(sent?.raw_transaction ?? '');
    const { type, chainId, to, data, nonce, maxFeePerGas, maxPriorityFeePerGas } = signed;
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    const call = { type, chainId, to, data, nonce, gasLimit, ...fees };
    const raw = await chain.wallet('relayer').signTransaction(call);
    await database.db
      .updateTable('relayer_transactions')
      .set({ raw_transaction: raw, tx_hash: Transaction.from(raw).hash ?? '', gas_limit: null })
      .execute();
    return raw;
  }

  it('never exceeds the ceiling: a batch that needs more is refused before it is signed', async () => {
    // Half of such a block is less than a batch of 16 needs. The gas ends in the pool's own frame: a node reports a lack of gas in a
    // nested call as a revert.
    await setBlockGasLimit(325_400);
    await chain.mine(1);
    await accept((await settle()).request);
    await relay();
    expect(await outcome()).toEqual(['reverted', 'gas_ceiling_exceeded']);
    expect(await transactions()).toEqual([]);
    await setBlockGasLimit(30_000_000);
    await chain.mine(1);
    await accept((await settle('job-2')).request, 'job-2');
    await relay();
    await settleDown();
    expect(await outcome('job-2')).toEqual(['settled', undefined]);
  });

  it('is below the ceiling with its margin', async () => {
    await accept((await settle()).request);
    await relay();
    const [sent] = await transactions();
    const { gasLimit } = Transaction.from(sent?.raw_transaction ?? '');
    expect(sent?.gas_limit).toBe(Number(gasLimit));
    expect(gasLimit).toBeLessThan(computeFundGasCeiling(16));
    await settleDown();
    const [settled] = await transactions();
    expect(settled?.gas_used).toBeGreaterThan(100_000);
    expect(settled?.gas_used).toBeLessThan(Number(gasLimit));
  });

  it.each([
    ['no block has', 60_000_000n],
    ['only an attacker needs', 20_000_000n],
  ])(
    'frees the nonce of stored bytes whose gas limit %s, and records the reason',
    async (_what, gasLimit) => {
      const raw = await sendOldBytes(gasLimit);
      await accept((await settle('job-2')).request, 'job-2');
      await relay();
      const [, cancel] = (await transactions()).filter(({ nonce }) => nonce === 0);
      const bytes = Transaction.from(cancel?.raw_transaction ?? '');
      expect([bytes.to, bytes.value, bytes.data]).toEqual([poolChain.relayerAddress, 0n, '0x']);
      expect((await transactions())[0]?.raw_transaction).toBe(raw);
      await settleDown();
      expect(await states()).toEqual([
        [0, 'fund', 'dropped'],
        [0, 'cancel', 'cancelled'],
        [1, 'fund', 'succeeded'],
      ]);
      expect(await outcome()).toEqual(['reverted', 'gas_ceiling_exceeded']);
      expect(await outcome('job-2')).toEqual(['settled', undefined]);
    },
  );

  describe('when the node will never accept the bytes', () => {
    const refusing = (refused: string, and: Partial<PoolChain> = {}): PoolChain => ({
      ...poolChain,
      broadcast: async (raw) => {
        if (raw === refused) throw new PoolError('transaction_rejected', 'refused');
        await poolChain.broadcast(raw);
      },
      ...and,
    });

    it('frees the nonce at once, ends the settlement, and sends the next one', async () => {
      const raw = await sendOldBytes(900_000n);
      await accept((await settle('job-2')).request, 'job-2');
      await relay(refusing(raw));
      await settleDown();
      expect(await outcome()).toEqual(['reverted', 'transaction_rejected']);
      expect(await outcome('job-2')).toEqual(['settled', undefined]);
    });

    it('frees it at capped fees when no better offer is allowed', async () => {
      const raw = await sendOldBytes(900_000n);
      const signReplacement = () =>
        Promise.reject(new PoolError('fee_cap_reached', 'above the cap'));
      await relay(refusing(raw, { signReplacement }));
      await settleDown();
      expect(await outcome()).toEqual(['reverted', 'transaction_rejected']);
      expect(await states()).toEqual([
        [0, 'fund', 'dropped'],
        [0, 'cancel', 'cancelled'],
      ]);
    });

    it.each(['before', 'after'] as const)(
      'frees it once through a crash right %s the cancel leaves',
      async (when) => {
        const raw = await sendOldBytes(900_000n);
        await relay({
          ...poolChain,
          broadcast: async (bytes) => {
            if (bytes === raw) throw new PoolError('transaction_rejected', 'refused');
            if (when === 'after') await poolChain.broadcast(bytes);
            throw new Error('SIGKILL');
          },
        });
        await relay(refusing(raw));
        await settleDown();
        expect(await outcome()).toEqual(['reverted', 'transaction_rejected']);
        expect(await states()).toEqual([
          [0, 'fund', 'dropped'],
          [0, 'cancel', 'cancelled'],
        ]);
      },
    );

    it('settles when another node had accepted them', async () => {
      const raw = await sendOldBytes(900_000n);
      await relay(refusing(raw, { signReplacement: () => Promise.reject(new Error('SIGKILL')) }));
      await chain.provider.send('eth_sendRawTransaction', [raw]);
      await settleDown();
      expect(await outcome()).toEqual(['settled', undefined]);
    });

    it('keeps bytes that fail for another reason', async () => {
      await sendOldBytes(900_000n);
      await relay({
        ...poolChain,
        broadcast: () => Promise.reject(new Error('connection reset')),
      });
      expect(await states()).toEqual([[0, 'fund', 'open']]);
      expect(await outcome()).toEqual(['submitted', undefined]);
    });
  });

  describe('under a cap on the cost of a transaction', () => {
    it('offers less per unit of gas, so that the whole cost stays below the cap', async () => {
      poolChain.close();
      // About 2.5 gwei for each of 317,000 gas: more than the base fee and the tip, less than twice the base fee and the tip.
      const maxCostWei = 800_000n * gwei;
      openChain({ maxCostWei });
      await accept((await settle()).request);
      await relay();
      const [sent] = await transactions();
      const { gasLimit, maxFeePerGas } = Transaction.from(sent?.raw_transaction ?? '');
      expect(gasLimit * (maxFeePerGas ?? 0n)).toBeLessThanOrEqual(maxCostWei);
      await settleDown();
      expect(await outcome()).toEqual(['settled', undefined]);
    });

    it('sends nothing while the chain asks for more', async () => {
      poolChain.close();
      openChain({ maxCostWei: 300_000n * gwei });
      await accept((await settle()).request);
      await relay();
      expect([await outcome(), await transactions()]).toEqual([['accepted', undefined], []]);
      await expect(
        poolChain.sign({ kind: 'fund', call: (await settle()).request }, 0, 500_000n),
      ).rejects.toSatisfy((error) => errorCodeOf(error) === 'fee_cap_reached');
    });
  });

  it('is at most the ceiling when a wallet that was cheap in the simulation burns all its gas', async () => {
    const wallet = chain.wallet('stranger');
    await mintTestToken(chain.token, chain.wallet('deployer'), wallet.address, 1_000_000n);
    const { pool } = chain.settings;
    await (await connectErc20(chain.token, wallet).approve(pool, 1_000_000n)).wait();
    await chain.provider.send('anvil_setCode', [wallet.address, strangeCode.burnsWhenMined]);
    const target = { ...(await chain.settlementTarget()), funder: wallet };
    const { request } = await createTestSettlement(target, { eligibilityRoot });
    const byAnother = await chain.wallet('guardian').signTypedData({}, { T: [] }, {});
    await accept({ ...request, funderSignature: byAnother });
    await relay();
    await settleDown();
    // The node that explains the revert gets the cheap answer again.
    expect(await outcome()).toEqual(['reverted', 'reverted']);
    const [sent] = await transactions();
    expect(sent?.state).toBe('reverted');
    expect(sent?.gas_used).toBeGreaterThan(1_000_000);
    expect(BigInt(sent?.gas_used ?? 0)).toBeLessThan(computeFundGasCeiling(16));
  });
});
