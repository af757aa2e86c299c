// A holder's agent, killed with SIGKILL at named points of a spend and started again in the same home: the change comes back, and
// nobody is paid twice. packages/operations goes through every point in memory, with and without a journal (spend-crash.test.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import type { AccountAnswer } from './fixtures/holder-account.ts';
import { createHolderAccount } from './fixtures/holder-account.ts';
import { type HolderAgent, startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

/** Killed without a durable journal. What had left before lands; what had not never leaves. */
const withoutJournal = [
  { point: 'spend:spend.posted', isPaid: true },
  { point: 'spend:release.after-store', isPaid: false },
] as const;

/** Killed with a durable journal: the same request under the same key ends as the same spend. */
const withJournal = ['spend:release.after-store', 'spend:outcome.before-store'] as const;

const paid = 1_000_000n;
const given = 250_000n;

describe('a holder’s agent that is killed', () => {
  let stack: TestStack;
  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    // The last of them is the payee.
    const count = withoutJournal.length + withJournal.length;
    stack = await startTestStack({ holderCount: count + 1 });
    const amounts = Object.fromEntries(Array.from({ length: count }, (_, who) => [who, paid]));
    await stack.client.disburse('june', stack.createRequest(amounts));
    expect(await stack.client.waitForJob('june')).toMatchObject({
      result: { status: 'completed' },
    });
    await stack.agent.process.stop();
  });
  afterAll(async () => {
    await stack.end();
  });

  /** A different amount for each case, so that the payee's notes tell them apart. */
  const amountOf = (who: number): bigint => given + BigInt(who);

  function pay(agent: HolderAgent, who: number): Promise<AccountAnswer> {
    const { walletPub } = stack.holders.at(-1)!;
    return createHolderAccount(agent.url, agent.keys).transfer('rent', [
      { walletPub, amount: amountOf(who).toString() },
    ]);
  }

  async function killAt(
    point: string,
    who: number,
    env: Readonly<Record<string, string>> = {},
  ): Promise<HolderAgent> {
    const holder = stack.holders[who]!;
    const agent = await startHolderAgent(stack, holder, `killed-${who}`, env, { fault: point });
    const call = pay(agent, who).catch(() => undefined);
    expect(await agent.process.exited, point).toEqual({ code: undefined, signal: 'SIGKILL' });
    await call;
    const { readKey, keys } = agent;
    return { ...(await agent.restart()), readKey, keys };
  }

  const totalOf = async (agent: HolderAgent): Promise<unknown> =>
    (await createHolderAccount(agent.url, agent.keys).balance()).body['total'];

  async function countPayments(who: number): Promise<number> {
    const notes = await readReceivedNotes(stack.place, stack.holders.at(-1)!, 'USDC');
    return notes.filter(({ amount }) => amount === amountOf(who)).length;
  }

  it.each(withoutJournal.map((entry, who) => ({ ...entry, who })))(
    'at $point recovers its money by itself, and pays nobody twice',
    async ({ point, isPaid, who }) => {
      const agent = await killAt(point, who);
      const left = isPaid ? paid - amountOf(who) : paid;
      await expect.poll(() => totalOf(agent), { interval: 500 }).toBe(left.toString());
      if (isPaid) {
        // The change is a note like any other.
        const answer = await createHolderAccount(agent.url, agent.keys).send(
          'all',
          left.toString(),
        );
        expect(answer).toMatchObject({ status: 200, body: { status: 'success' } });
      } else {
        // The authorisation may have left, as far as this agent knows, so its note stays locked.
        expect(await pay(agent, who)).toMatchObject({
          status: 409,
          body: { code: 'insufficient_funds', spendable: '0' },
        });
      }
      await agent.process.stop();
      expect(await countPayments(who)).toBe(isPaid ? 1 : 0);
    },
  );

  it.each(withJournal.map((point, place) => ({ point, who: withoutJournal.length + place })))(
    'at $point pays once when the same request comes again, with the journal on [spend.memory-per-process]',
    async ({ point, who }) => {
      const journal = { DISBURSE_SPEND_JOURNAL: `sqlite:${stack.directory}/journal-${who}.sqlite` };
      const agent = await killAt(point, who, journal);
      const [answer, again] = await Promise.all([pay(agent, who), pay(agent, who)]);
      expect(answer).toMatchObject({ status: 200, body: { status: 'success' } });
      expect(again).toEqual(answer);
      expect(await totalOf(agent)).toBe((paid - amountOf(who)).toString());
      await agent.process.stop();
      expect(await countPayments(who)).toBe(1);
    },
  );

  it('has moved exactly what was asked for', async () => {
    const withdrawn = withoutJournal
      .map(({ isPaid }, who) => (isPaid ? paid - amountOf(who) : 0n))
      .reduce((sum, amount) => sum + amount, 0n);
    const count = BigInt(withoutJournal.length + withJournal.length);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(count * paid - withdrawn);
  });
});
