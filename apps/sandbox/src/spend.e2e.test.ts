// A holder's money over real processes: enrolled by `onboard`, paid by a batch, moved inside the pool and withdrawn, disclosed, merged, and
// moved to a new viewing key. Real proofs of both sizes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Consolidation,
  parseEncryptionPublicKey,
  parseHex,
  type SpendReceipt,
} from '@pool/core';
import type { DisclosureReport } from '@pool/notes';
import { readData } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveHolderKey } from './chain/sandbox-keys.ts';
import { fetchPoolBalance, fetchTokenBalance } from './demo/chain-facts.ts';
import { readAllReceivedNotes } from './demo/received-notes.ts';
import { createHolderAccount, type HolderAccount } from './fixtures/holder-account.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';
import type { Agent } from './processes/agent-process.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';
import { type HeadlessHolder, onboardHolder } from './stack/headless-holder.ts';

const savings = new Wallet(deriveHolderKey(3_000).reveal()).address;
const hash = /^0x[0-9a-f]{64}$/;

type ConsolidateOutput = Consolidation & { readonly receipts: readonly SpendReceipt[] };

/** Printed by `viewing-key new`. */
type ViewingKeyDocument = {
  readonly scalar: string;
  readonly encryptionPublicKeys: { readonly babyjubjub: string };
};

describe('a holder who spends', () => {
  let stack: TestStack;
  let alice: HeadlessHolder;
  let agent: Agent;
  let account: HolderAccount;
  /** Transactions of the first payment to her, and of her first transfer. */
  const transactions = { june: '', rent: '' };
  /** Made on the way, and found in no log. */
  const secrets: string[] = [];
  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    await ensureProvingKey('spend-16x8', progress);
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
    const { result } = await stack.client.waitForJob('june');
    expect(result).toMatchObject({ status: 'completed' });
    transactions.june = result?.batches[0]?.txHash ?? '';
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

  it('transfers to two holders in one spend, and one key is one spend [service.account-operations, transfer.route]', async () => {
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
    transactions.rent = String(first.body['txHash']);
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

  it('withdraws to a pinned label, and the token arrives there [service.account-operations, send.route]', async () => {
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

  it('refuses what it cannot or may not pay, before anything is proved [service.account-operations]', async () => {
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

  async function payAlice(key: string, amount: bigint): Promise<void> {
    await stack.client.disburse(key, {
      token: 'USDC',
      recipients: [{ recipientAddress: alice.address, amount: amount.toString() }],
    });
    expect(await stack.client.waitForJob(key)).toMatchObject({ result: { status: 'completed' } });
  }

  /** Runs a command on a machine, as its operator. @returns standard output */
  async function run(
    on: Pick<Agent, 'environment'>,
    args: readonly string[],
    expected = 0,
  ): Promise<string> {
    const { stdout, code } = await runAgentCommand(on, args, { isQuiet: true });
    expect(code, `${args.slice(0, 2).join(' ')}: ${stdout}`).toBe(expected);
    return stdout;
  }

  describe('and discloses payments', () => {
    const pathOf = (name: string): string => join(stack.directory, name);
    /** A machine with chain and pool, and without any key or service of the discloser. */
    const auditor = () => ({ environment: { DISBURSE_HOME: pathOf('auditor-home') } });
    beforeAll(() => {
      mkdirSync(pathOf('auditor-home'), { mode: 0o700 });
      writeFileSync(pathOf('auditor-home/chains.json'), JSON.stringify(stack.chains));
    });

    /** @returns what the document proves to the auditor, a line for each payment */
    async function disclose(
      on: Agent,
      role: 'payer' | 'payee',
      txHash: string,
      sources: readonly string[] = [],
    ): Promise<readonly string[]> {
      const path = pathOf(`${on.process.name}-${role}.json`);
      await run(on, ['disclose', role, '--purpose', 'audit', '--out', path, '--tx', txHash]);
      const report = await run(auditor(), ['disclose', 'verify', path, '--json', ...sources]);
      const { discloser, payments } = readData(report) as DisclosureReport;
      expect(discloser).toMatchObject({ state: 'proved', role, purpose: 'audit' });
      return payments.map(({ amount, payer, payee, ...payment }) => {
        expect([payment.txHash, payment.exists.state]).toEqual([txHash, 'proved']);
        const [from, to] = [payer, payee].map((who) =>
          who.state === 'proved' ? who.address : who.reason,
        );
        return `${amount.state === 'proved' ? amount.amount : amount.reason} from ${from} to ${to}`;
      });
    }

    it('of the employer, with payer and payees', async () => {
      const from = `from ${stack.employer.address}`;
      const shown = await disclose(stack.agent, 'payer', transactions.june);
      expect(new Set(shown)).toEqual(
        new Set([
          `10000001 ${from} to ${alice.address}`,
          `7 ${from} to ${stack.holders[0]!.address}`,
        ]),
      );
    });

    it('of a transfer, as the holder who paid', async () => {
      const shown = await disclose(agent, 'payer', transactions.rent);
      expect(new Set(shown)).toEqual(
        new Set([
          `1000000 from ${alice.address} to ${stack.holders[0]!.address}`,
          `2500003 from ${alice.address} to ${stack.holders[1]!.address}`,
        ]),
      );
    });

    it('of what she received, also to an auditor without a network', async () => {
      const events = pathOf('events.json');
      await run(auditor(), ['disclose', 'events', '--out', events]);
      expect(await disclose(agent, 'payee', transactions.june, ['--archive', events])).toEqual([
        `10000001 from not-disclosed to ${alice.address}`,
      ]);
    });
  });

  it('merges 17 notes until one spend covers all of them [command.consolidate]', async () => {
    const amounts = Array.from({ length: 17 }, (_, index) => 100_100n + BigInt(index));
    await Promise.all(
      amounts.map(async (amount) => {
        await payAlice(`part-${amount}`, amount);
      }),
    );
    expect(await account.balance()).toEqual(balance('1701836', 17, '100116'));
    const merged = readData(await run(agent, ['consolidate', '--json'])) as ConsolidateOutput;
    expect(merged).toMatchObject({
      steps: [{ notes: 2, amount: '200201' }],
      receipts: [{ operation: 'transfer', status: 'success', changeAmount: '200201' }],
    });
    expect(await account.balance()).toEqual(balance('1701836', 16, '200201'));
    expect(await run(agent, ['consolidate'])).toContain('nothing to merge');
  });

  it('moves her 16 notes to a new viewing key by one proof, and that key alone opens what arrives from then on', async () => {
    const path = join(alice.home, 'new-viewing-key.json');
    const text = await run(agent, ['viewing-key', 'new']);
    writeFileSync(path, text, { mode: 0o600 });
    const { scalar, encryptionPublicKeys } = JSON.parse(text) as ViewingKeyDocument;
    const encryptionPublicKey = parseEncryptionPublicKey(encryptionPublicKeys.babyjubjub);
    const rotated = { ...alice, viewingKey: parseHex(scalar), encryptionPublicKey };
    secrets.push(rotated.viewingKey.slice(2));

    await run(agent, ['rotate-viewing-key', '--new-key', path, '--yes']);
    await agent.process.stop();
    agent = await agent.restart();
    const finished = await run(agent, ['rotate-viewing-key']);
    expect(finished).toContain(`registered P: ${encryptionPublicKey}`);
    const seen = { interval: 500 };
    await expect.poll(() => account.balance(), seen).toEqual(balance('1701836', 1, '1701836'));

    await payAlice('july', 5n);
    const [found, withOldKey] = await readAllReceivedNotes(stack.place, [rotated, alice], 'USDC');
    expect(found?.map(({ amount }) => amount)).toEqual([1_701_836n, 5n]);
    expect(withOldKey).toEqual([]);

    const answer = await account.send('leave', '1701841', 'savings');
    expect(answer).toMatchObject({ status: 200, body: { status: 'success', changeAmount: '0' } });
    expect(await account.balance()).toEqual(balance('0', 0, '0'));
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(5_701_841n);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(3_500_010n);
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
      ...['1701836', '1701841'],
      ...secrets,
    ];
    expect(words.filter((word) => logs.includes(word))).toEqual([]);
  });
});
