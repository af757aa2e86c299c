// What the chain shows of real payments, transfers and withdrawals: every public value is read back and searched for what must not be
// there. Each search also runs with the leak planted, so it can fail.
import {
  decodeSpend,
  parsePoolEvent,
  type SpendCall,
  shieldedPoolInterface,
} from '@pool/contracts';
import { Secret } from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { id, toBeHex, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainId } from './chain/local-chain.ts';
import { deriveHolder, enrolHolder, openSession } from './chain/people.ts';
import { deriveHolderKey, deriveRoleKey } from './chain/sandbox-keys.ts';
import { findOwnRoots, type Window } from './fixtures/common-roots.ts';
import { type AccountAnswer, createHolderAccount } from './fixtures/holder-account.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import {
  findCommonValues,
  findLeaks,
  formsOfAmount,
  formsOfHolder,
  type SecretForm,
} from './fixtures/public-leaks.ts';
import { type PublicRecord, readPublicRecords } from './fixtures/public-record.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

/** Five bytes or more, so that no other value contains one by chance. */
const toAlice = [1_234_567_890_123n, 2_345_678_901_234n] as const;
const toBob = 1_122_334_455_667n;
const toCarol = 1_133_557_799_113n;
const transferred = { bob: 1_357_913_579_135n, carol: 1_199_887_766_554n, dave: 313_131_313_131n };
const withdrawn = 10_203_040_506n;
/** Change of the three spends before the last one, which withdraws all that is left. */
const changes = listChanges();
const savings = new Wallet(deriveHolderKey(3_000).reveal()).address;

type Spend = PublicRecord & { readonly operation: SpendCall; readonly window: Window };

describe('what the chain shows', () => {
  let stack: TestStack;
  let records: readonly PublicRecord[];
  /** Two transfers with a withdrawal to a pinned address between them, and a withdrawal to the own wallet. */
  let spends: readonly Spend[];
  let secrets: readonly SecretForm[];

  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    stack = await startTestStack({ holderCount: 4 });
    const [alice, bob, carol, dave] = stack.holders.map((holder) => holder);
    if (alice === undefined || bob === undefined || carol === undefined || dave === undefined) {
      throw new Error('the stack has four holders');
    }
    const agent = await startHolderAgent(stack, alice, 'alice', {
      DISBURSE_SEND_DESTINATIONS: `savings=${savings}`,
    });
    const account = createHolderAccount(agent.url, agent.keys);
    const firstBlock = await fetchHead();
    await pay('first', { 0: toAlice[0], 1: toBob });
    await pay('second', { 0: toAlice[1], 2: toCarol });

    const found: { readonly txHash: string; readonly fromBlock: number }[] = [];
    async function spend(ask: () => Promise<AccountAnswer>): Promise<void> {
      // Of the blocks at this time, the final one is two older.
      const fromBlock = (await fetchHead()) - 2;
      const { status, body } = await ask();
      expect([status, body['status']]).toEqual([200, 'success']);
      found.push({ txHash: String(body['txHash']), fromBlock });
    }
    const to = ({ walletPub }: typeof alice, amount: bigint) => ({
      walletPub,
      amount: amount.toString(),
    });
    // Two notes go in, two payees get one each.
    await spend(() =>
      account.transfer('one', [to(bob, transferred.bob), to(carol, transferred.carol)]),
    );
    await spend(() => account.send('two', withdrawn.toString(), 'savings'));
    await enrolOneMore();
    await spend(() => account.transfer('three', [to(dave, transferred.dave)]));
    const left = String(changes[2]);
    expect((await account.balance()).body['total']).toBe(left);
    await spend(() => account.send('four', left));

    records = await readPublicRecords(stack.place, firstBlock);
    spends = found.map(({ txHash, fromBlock }) => {
      const record = records.find((one) => one.txHash === txHash);
      if (record === undefined) {
        throw new Error(`the chain has no spend ${txHash}`);
      }
      const { operation } = decodeSpend(record.calldata);
      return { ...record, operation, window: { fromBlock, toBlock: record.blockNumber } };
    });
    const amounts = [...toAlice, toBob, toCarol, ...Object.values(transferred), ...changes];
    secrets = [
      ...stack.holders.flatMap((holder, index) => formsOfHolder(`holder ${index}`, holder)),
      ...amounts.flatMap((amount) => formsOfAmount(`amount ${amount}`, amount)),
    ];
  });
  afterAll(async () => {
    await stack.end();
  });

  async function pay(key: string, amounts: Readonly<Record<number, bigint>>): Promise<void> {
    await stack.client.disburse(key, stack.createRequest(amounts));
    expect(await stack.client.waitForJob(key)).toMatchObject({ result: { status: 'completed' } });
  }

  async function fetchHead(): Promise<number> {
    const provider = createEvmProvider({ rpcUrl: stack.rpcUrl, chainId });
    try {
      return await provider.getBlockNumber();
    } finally {
      provider.destroy();
    }
  }

  /** Gives the registry another root. */
  async function enrolOneMore(): Promise<void> {
    const privateKey = deriveHolderKey(2_300);
    const holder = await deriveHolder(privateKey, stack);
    const session = await openSession(
      new Secret(holder.privateKey),
      stack,
      holder.encryptionPublicKey,
    );
    await enrolHolder(session, holder);
  }

  /** All transactions except the withdrawal to the holder's own wallet, which publishes its address. */
  const withoutOwn = () => records.filter(({ txHash }) => txHash !== spends[3]?.txHash);

  it('is all there: two batches, four spends, and their events', () => {
    const calls = records
      .filter(({ to }) => to.toLowerCase() === stack.place.contracts.pool.toLowerCase())
      .map(({ calldata }) => shieldedPoolInterface.parseTransaction({ data: calldata })?.name);
    expect(calls).toEqual(['fund', 'fund', 'spend', 'spend', 'spend', 'spend']);
    expect(spends.map(({ operation }) => operation.nullifiers.length)).toEqual([2, 2, 2, 2]);
    for (const { values } of spends) {
      expect(values.some(({ where }) => where.startsWith('storage of'))).toBe(true);
      expect(values.some(({ where }) => where.startsWith('log '))).toBe(true);
    }
  });

  it('shows no wallet, address, key or single amount, in no encoding', () => {
    expect(
      findLeaks(
        withoutOwn().flatMap(({ values }) => values),
        secrets,
      ),
    ).toEqual([]);
  });

  it('shows the batch totals, the withdrawal and its address: the search finds what is there', () => {
    const values = withoutOwn().flatMap((record) => record.values);
    for (const amount of [toAlice[0] + toBob, toAlice[1] + toCarol, withdrawn]) {
      expect(findLeaks(values, formsOfAmount('public', amount))).not.toEqual([]);
    }
    const address = { name: 'savings', hex: savings.slice(2).toLowerCase() };
    expect(findLeaks(values, [address])).not.toEqual([]);
  });

  it('shows the address of W, and nothing else of it, when the holder withdraws to its own wallet', () => {
    const leaks = findLeaks(spends[3]?.values ?? [], secrets);
    // The amount of a withdrawal is public. As change of the transfer before, it is not.
    expect(new Set(leaks.map(({ secret }) => secret))).toEqual(
      new Set(['holder 0: address', `amount ${changes[2]} big-endian`]),
    );
  });

  it('would find each of these secrets, wherever a transaction had it', () => {
    const [transfer] = spends;
    for (const { name, hex } of secrets) {
      const planted = (transfer?.values ?? []).map(({ where, hex: own }) => ({
        where,
        // In the middle of the sealed notes, which end the calldata.
        hex: where === 'call.data' ? `${own.slice(0, -200)}${hex}${own.slice(-200)}` : own,
      }));
      expect(findLeaks(planted, secrets), name).toContainEqual({
        secret: name,
        where: 'call.data',
      });
    }
  });

  /**
   * Everything that two spends of one holder may both show: the contracts and the relayer, function and events, the token, the roots
   * of the whole pool, a deadline that is rounded to a quarter of an hour, the relayer's fees, and where the contracts store things.
   */
  function listConstants(): readonly string[] {
    const { pool, registry } = stack.place.contracts;
    const relayer = new Wallet(deriveRoleKey('relayer').reveal()).address;
    const events = ['Spent', 'BatchFunded'].map(
      (name) => shieldedPoolInterface.getEvent(name)?.topicHash ?? '',
    );
    return [
      ...[pool, registry, stack.place.tokens['USDC']?.address ?? '', relayer, savings],
      shieldedPoolInterface.getFunction('spend')?.selector ?? '',
      ...[...events, id('Transfer(address,address,uint256)')],
      ...listRoots(),
      ...spends.flatMap(({ operation: { eligibilityRoot, deadline } }) => [
        toBeHex(eligibilityRoot, 32),
        toBeHex(deadline),
      ]),
      ...records.flatMap(({ values }) =>
        values.filter(({ where }) => where.endsWith('.slot')).map(({ hex }) => hex),
      ),
      // The length of the sealed notes, the suite of the first one, and its next byte: one of 256 pairs has the same by chance.
      ...Array.from({ length: 256 }, (_, byte) => toBeHex(0x0344_0100 + byte)),
    ];
  }

  /** Every root that the pool has had, from its events. */
  function listRoots(): readonly string[] {
    return records.flatMap(({ values }) => {
      const logs = new Set(values.flatMap(({ where }) => /^log \d+/.exec(where)?.[0] ?? []));
      return [...logs].flatMap((log) => {
        const of = (name: string) => values.find(({ where }) => where === `${log}.${name}`)?.hex;
        const topics = [0, 1, 2, 3].flatMap((place) => of(`topic ${place}`) ?? []);
        const event = { topics: topics.map((hex) => `0x${hex}`), data: `0x${of('data') ?? ''}` };
        const root = parsePoolEvent(event)?.newRoot;
        return root === undefined ? [] : [root];
      });
    });
  }

  it('shows no value in two spends of one holder besides the constants', () => {
    const allowed = listConstants();
    for (const [index, first] of spends.entries()) {
      for (const second of spends.slice(index + 1)) {
        expect(findCommonValues(first, second, allowed)).toEqual([]);
      }
    }
  });

  it('would find eight bytes that two spends share', () => {
    const [first, second] = spends;
    const allowed = listConstants();
    for (const field of ['maskedX', 'rSig', 'outRoot', 'D'] as const) {
      const word = BigInt(first!.operation[field]).toString(16).padStart(64, '0');
      for (const part of [word, word.slice(10, 26)]) {
        const planted = { values: [...second!.values, { where: field, hex: `00ff${part}ff` }] };
        expect(findCommonValues(first!, planted, allowed), field).toEqual([field]);
      }
    }
  });

  it('has only roots and deadlines that everybody had at that time', async () => {
    for (const { operation, window } of spends) {
      expect(Number(operation.deadline) % 900).toBe(0);
      expect(await findOwnRoots(stack.place, operation, window)).toEqual([]);
    }
    // A transfer after the enrolment has another eligibility root than one before.
    expect(spends[2]?.operation.eligibilityRoot).not.toBe(spends[0]?.operation.eligibilityRoot);
  });

  it('would find an older root, and one that only this holder was served', async () => {
    const [first, , third] = spends;
    const { operation, window } = third!;
    const stale = {
      ...operation,
      noteRoot: first!.operation.noteRoot,
      // Still accepted by the registry, and not the newest.
      eligibilityRoot: first!.operation.eligibilityRoot,
    };
    expect(await findOwnRoots(stack.place, stale, window)).toEqual(['noteRoot', 'eligibilityRoot']);
    const own = { ...operation, noteRoot: id('own'), eligibilityRoot: id('own') };
    expect(await findOwnRoots(stack.place, own, window)).toEqual(['noteRoot', 'eligibilityRoot']);
  });
});

function listChanges(): readonly [bigint, bigint, bigint] {
  const first = toAlice[0] + toAlice[1] - transferred.bob - transferred.carol;
  const second = first - withdrawn;
  return [first, second, second - transferred.dave];
}
