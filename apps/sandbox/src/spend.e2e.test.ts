// A holder's money over real processes: enrolled by `onboard`, paid by a batch, moved inside the pool and withdrawn. Real proofs.
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from './agent-process.ts';
import { ensureProvingKey } from './artifacts.ts';
import { fetchPoolBalance, fetchTokenBalance } from './chain-facts.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { type HeadlessHolder, onboardHolder } from './headless-holder.ts';
import { createHolderAccount, type HolderAccount } from './holder-account.ts';
import { createProgress } from './progress.ts';
import { readAllReceivedNotes } from './received-notes.ts';
import { deriveHolderKey } from './sandbox-keys.ts';

const savings = new Wallet(deriveHolderKey(3_000).reveal()).address;
const hash = /^0x[0-9a-f]{64}$/;

describe('a holder who spends', () => {
  let stack: TestStack;
  let alice: HeadlessHolder;
  let agent: Agent;
  let account: HolderAccount;
  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    stack = await startTestStack({ holderCount: 2 });
    alice = await onboardHolder(stack, {
      name: 'alice',
      privateKey: deriveHolderKey(2_100),
      settings: {
        DISBURSE_SEND_DESTINATIONS: `savings=${savings}`,
        DISBURSE_TRANSFER_MAX_AMOUNT: '5000000',
      },
    });
    agent = await stack.startAgent({ name: 'alice', isOnboarded: true });
    account = createHolderAccount(agent.url, alice.keys);
  });
  afterAll(async () => {
    await stack.end();
  });

  const balance = (total: string, notes: number, largestNote: string) => ({
    status: 200,
    body: { total, symbol: 'USDC', notes, largestNote, chain: stack.chain },
  });
  const payees = (first: string, second: string) => [
    { walletPub: stack.holders[0]!.walletPub, amount: first },
    { walletPub: stack.holders[1]!.walletPub, amount: second },
  ];

  it('finds what a disbursement paid to it', async () => {
    await stack.client.disburse('june', {
      token: 'USDC',
      recipients: [
        { recipientAddress: alice.address, amount: '10000001' },
        { recipientAddress: stack.holders[0]!.address, amount: '7' },
      ],
    });
    expect(await stack.client.waitForJob('june')).toMatchObject({
      result: { status: 'completed' },
    });
    expect(await account.balance()).toEqual(balance('10000001', 1, '10000001'));
  });

  it('proves a dry run, and moves nothing', async () => {
    const answer = await account.transfer('dry', payees('1', '2'), { dryRun: true });
    expect(answer).toEqual({
      status: 200,
      body: {
        operation: 'transfer',
        status: 'dry-run',
        nullifiers: [expect.stringMatching(hash)],
        changeAmount: '9999998',
      },
    });
    expect(await account.balance()).toEqual(balance('10000001', 1, '10000001'));
  });

  it('transfers to two holders in one spend, and one key is one spend', async () => {
    const asked = payees('1000000', '2500003');
    const [first, second, other] = await Promise.all([
      account.transfer('rent', asked),
      account.transfer('rent', asked),
      account.transfer('rent', payees('1000000', '2500004')),
    ]);
    expect(first).toEqual({
      status: 200,
      body: {
        operation: 'transfer',
        status: 'success',
        txHash: expect.stringMatching(hash),
        nullifiers: [expect.stringMatching(hash)],
        changeAmount: '6499998',
      },
    });
    expect(second).toEqual(first);
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect(await account.transfer('rent', asked)).toEqual(first);
    expect(await account.balance()).toEqual(balance('6499998', 1, '6499998'));

    const [bob = [], carol = []] = await readAllReceivedNotes(stack.place, stack.holders, 'USDC');
    expect(bob.map(({ amount }) => amount)).toEqual([7n, 1_000_000n]);
    expect(carol).toMatchObject([{ amount: 2_500_003n, txHash: first.body['txHash'] }]);
    const bobAgent = await startHolderAgent(stack, stack.holders[0]!, 'bob');
    const bobAccount = createHolderAccount(bobAgent.url, bobAgent.keys);
    expect(await bobAccount.balance()).toEqual(balance('1000007', 2, '1000000'));
    await bobAgent.process.stop();
  });

  it('withdraws to a pinned label, and the token arrives there', async () => {
    const answer = await account.send('save', '4000000', 'savings');
    expect(answer).toMatchObject({
      status: 200,
      body: { operation: 'send', status: 'success', changeAmount: '2499998' },
    });
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(4_000_000n);
    expect(await account.balance()).toEqual(balance('2499998', 1, '2499998'));
  });

  it('withdraws everything to its own wallet without a label', async () => {
    const answer = await account.send('cash', '2499998');
    expect(answer).toMatchObject({ status: 200, body: { status: 'success', changeAmount: '0' } });
    expect(await fetchTokenBalance(stack.place, 'USDC', alice.address)).toBe(2_499_998n);
    expect(await account.balance()).toEqual(balance('0', 0, '0'));
  });

  it('adds up to the base unit', async () => {
    const notes = await readAllReceivedNotes(stack.place, stack.holders, 'USDC');
    const inPool = notes.flat().reduce((sum, { amount }) => sum + amount, 0n);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(inPool);
    expect(inPool + 4_000_000n + 2_499_998n).toBe(10_000_008n);
  });

  it('refuses what it cannot or may not pay, before anything is proved', async () => {
    const { transfer, send } = alice.keys;
    const dry = { dryRun: true };
    expect(await account.transfer('no', payees('1', '2'), dry)).toMatchObject({
      status: 409,
      body: { code: 'insufficient_funds', spendable: '0' },
    });
    expect(await account.transfer('no', payees('5000000', '1'), dry)).toMatchObject({
      status: 403,
      body: { code: 'ceiling_exceeded' },
    });
    expect(await account.send('no', '1', savings)).toMatchObject({
      status: 400,
      body: { code: 'unpinned_destination', message: expect.stringContaining('savings') },
    });
    for (const bearer of [send, alice.keys.read, agent.loopbackToken]) {
      expect(await account.transfer('no', payees('1', '2'), { bearer })).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    }
    expect(await account.send('no', '1', undefined, { bearer: transfer })).toMatchObject({
      status: 403,
    });
  });

  it('writes no secret, payee, amount or key of a spend to a log', () => {
    const logs = stack.readLogs().toLowerCase();
    expect(logs).toContain('spend ended');
    const words = [
      ...[alice, ...stack.holders].flatMap((holder) => [
        holder.privateKey.slice(2),
        holder.viewingKey.slice(2),
        holder.walletPub.slice(4),
      ]),
      ...Object.values(alice.keys).map((key) => key.slice(-24).toLowerCase()),
      ...['2500003', '6499998', '2499998', '"rent"', '"cash"', 'savings'],
    ];
    expect(words.filter((word) => logs.includes(word))).toEqual([]);
  });
});
