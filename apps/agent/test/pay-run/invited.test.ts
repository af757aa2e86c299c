// Rosters that name invited people: who is paid at once, who is held back, and that each is paid once (docs/decisions/0008).
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { describeHeld } from '../../../../packages/pay-run/src/check/invited-standing.ts';
import {
  parseUntil,
  payFirstRound,
} from '../../../../packages/pay-run/src/commands/pay-invited.ts';
import { nameOfRound } from '../../../../packages/pay-run/src/ledger/invited-record.ts';
import type { PayRunLedger } from '../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { stateOf } from '../../../../packages/pay-run/src/report/split-report.ts';
import { createWorld, name, once, unit, until } from './invited-world.ts';
import { KilledError, type Verdict } from './test-pay-run.ts';

describe('a roster that names invited people', () => {
  it('pays those who have enrolled, and holds the others back by line, with state and end of the link', async () => {
    const world = createWorld();
    const { outcome, held } = await world.first();
    expect(outcome?.parts.map(({ job }) => stateOf(job))).toEqual(['paid', 'paid']);
    expect(world.paid()).toEqual([...once.slice(0, 4), [], []]);
    expect(describeHeld(held, unit)).toEqual([
      '  held back line 6: Name 1: 0.002001 USDC: opened: the link was opened, and no wallet has accepted it; the link ends 2026-12-28',
      '  held back line 7: Name 2: 0.002002 USDC: opened: the link was opened, and no wallet has accepted it; the link ends 2026-12-28',
    ]);
    expect(world.state.lines).toContain(
      `  invited line 5: Name 0: 0.002 USDC to ${world.wallets[0]?.address}, not confirmed before`,
    );
  });

  it('pays each of them once, however often the commands run, and whoever enrols in between', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    const again = await world.first();
    expect(again.outcome?.isRepeat).toBe(true);
    expect(again.held.map(({ reason }) => reason === undefined)).toEqual([true, false]);
    expect(world.paid()[4]).toEqual([]);
    expect((await world.resume()).held).toHaveLength(1);
    expect((await world.resume()).payments.map(({ outcome }) => outcome.isRepeat)).toEqual([true]);
    world.enrol(2);
    expect((await world.resume()).held).toEqual([]);
    await world.resume();
    await world.first();
    expect(world.paid()).toEqual(once);
  });

  it('has keys without names, which do not depend on who has enrolled', async () => {
    const [early, late] = [createWorld([true, true, false]), createWorld([false, false, false])];
    await early.first();
    await late.first();
    expect(early.state.submitted[0]).not.toMatch(/name|person/i);
    expect((await early.ledger().read(name))?.digest).toBe(
      (await late.ledger().read(name))?.digest,
    );
  });

  it('sends nothing if nobody can be paid yet, and lets the first people be paid by a resumption', async () => {
    const world = createWorld([false, false]);
    const plan = { ...world.plan, entries: world.plan.entries.slice(3) };
    expect((await payFirstRound(plan, until, world.deps())).outcome).toBeUndefined();
    expect(world.state.submitted).toEqual([]);
    world.enrol(0);
    await world.resume();
    // What was paid by it is not paid again by the first command.
    await payFirstRound(plan, until, world.deps());
    world.enrol(1);
    await payFirstRound(plan, until, world.deps());
    await world.resume();
    expect(world.paid()).toEqual([[], [], [], [2_000n], [2_001n]]);
  });

  it('chooses anew who is paid first as long as nothing was sent', async () => {
    const world = createWorld();
    world.chain.balance = 1n;
    expect((await world.first()).outcome?.stop?.code).toBe('insufficient_balance');
    world.chain.balance = 10n ** 12n;
    world.enrol(1);
    await world.first();
    expect(world.paid()).toEqual([...once.slice(0, 5), []]);
  });

  it('pays everybody once if a process is killed at any point, with people enrolling in between', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; ; call += 1) {
        const world = createWorld(undefined, 1);
        world.state.killAt = { call, when };
        const wasKilled = await world
          .first()
          .then(() => world.enrol(1))
          .then(() => world.resume())
          .then(() => false)
          .catch((error: unknown) => {
            expect(error).toBeInstanceOf(KilledError);
            return true;
          });
        world.state.killAt = undefined;
        world.enrol(1);
        await world.first();
        await world.resume();
        world.enrol(2);
        await world.first();
        await world.resume();
        expect(world.paid(), `${when} call ${call}`).toEqual([once[0], ...once.slice(3)]);
        if (!wasKilled) {
          expect(call).toBeGreaterThan(20);
          break;
        }
      }
    }
  });

  it('pays everybody once when commands run at the same time', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    world.enrol(2);
    const runs = await Promise.allSettled([
      world.resume(),
      world.resume(),
      world.first(),
      world.resume(),
    ]);
    for (const run of runs) {
      if (run.status === 'rejected') {
        expect(run.reason).toMatchObject({ code: 'pay_run_conflict' });
      }
    }
    await world.resume();
    expect(world.paid()).toEqual(once);
  });

  it('refuses a first payment that another command has fixed with other people', async () => {
    // Two parts, with the second invited person or without.
    const world = createWorld(undefined, 2);
    const ask = async (): Promise<string> => {
      // While a person reads the question, one more enrols and another command pays.
      world.enrol(1);
      await world.first({ ask: undefined });
      return 'y';
    };
    await expect(world.first({ ask })).rejects.toMatchObject({ code: 'pay_run_conflict' });
    await world.first();
    world.enrol(2);
    await world.resume();
    expect(world.paid()).toEqual([...once.slice(0, 2), ...once.slice(3)]);
  });

  it('holds people back again whose payment failed, and pays them under another key', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    const verdicts: Verdict[] = ['failed'];
    world.state.verdict = () => verdicts.shift() ?? 'completed';
    const failed = await world.resume();
    expect(
      failed.payments.map(({ outcome }) => outcome.parts.map(({ job }) => stateOf(job))),
    ).toEqual([['failed']]);
    // The wallet of one who is in it is no longer eligible: it does not stop the other.
    world.enrol(2);
    world.set(1, { state: 'enrolled' });
    expect((await world.resume()).held).toHaveLength(1);
    world.enrol(1);
    await world.resume();
    expect(world.paid()).toEqual(once);
    expect(new Set(world.state.submitted).size).toBe(world.state.submitted.length);
  });

  it('does not send a payment that another command has given up', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    const ledger = world.ledger();
    let isFirst = true;
    // Between the choice of the people and the sending, the other command finds nothing sent.
    const slow: PayRunLedger = {
      ...ledger,
      read: async (asked) => {
        if (asked.payRun === nameOfRound(name, 2).payRun && isFirst) {
          isFirst = false;
          await world.resume();
        }
        return ledger.read(asked);
      },
    };
    await expect(world.resume({ ledger: slow })).rejects.toMatchObject({
      code: 'pay_run_conflict',
    });
    await world.resume();
    expect(world.paid()).toEqual([...once.slice(0, 5), []]);
  });

  it('pays nobody with a ledger that was lost or is an older copy', async () => {
    const world = createWorld();
    await world.first();
    const older = (await world.ledger().read(name))!;
    world.enrol(1);
    await world.resume();
    world.enrol(2);
    world.loseLedger();
    await expect(world.first()).rejects.toMatchObject({ code: 'pay_run_conflict' });
    await world.ledger().change(name, () => older);
    await expect(world.resume()).rejects.toMatchObject({ code: 'pay_run_conflict' });
    expect(world.paid()).toEqual([...once.slice(0, 5), []]);
  });

  it('refuses an edited roster under the label, also after only a resumption has paid', async () => {
    const world = createWorld([false]);
    const plan = { ...world.plan, entries: world.plan.entries.slice(3) };
    await payFirstRound(plan, until, world.deps());
    world.enrol(0);
    await world.resume();
    const edited = plan.entries.map((entry) => ({ ...entry, amount: '7' }));
    const paying = payFirstRound({ ...plan, entries: edited }, until, world.deps());
    await expect(paying).rejects.toMatchObject({ code: 'pay_run_conflict' });
    expect(world.paid()[3]).toEqual([2_000n]);
  });
});

describe('pay-runs resume', () => {
  it('refuses after the last day, until the first command names a later one', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    world.state.nowMs = Date.UTC(2027, 0, 15, 23, 59);
    const late = createWorld();
    await late.first();
    late.enrol(1);
    late.state.nowMs = Date.UTC(2027, 0, 16);
    await world.resume();
    expect(world.paid()[4]).toEqual([2_001n]);
    await expect(late.resume()).rejects.toMatchObject({
      code: 'pay_run_ended',
      message: expect.stringContaining('until 2027-01-15'),
    });
    expect(late.paid()[4]).toEqual([]);
    await payFirstRound(late.plan, '2027-02-01', late.deps());
    await late.resume();
    expect(late.paid()[4]).toEqual([2_001n]);
  });

  it('waits for the first command, and refuses a pay run that holds nobody back', async () => {
    const world = createWorld();
    const ask = async (): Promise<string> => 'n';
    await expect(world.first({ ask })).rejects.toMatchObject({ code: 'payment_declined' });
    expect(await world.ledger().read(name)).toBeUndefined();
    world.state.verdict = () => 'failed';
    await world.first();
    world.enrol(1);
    await expect(world.resume()).rejects.toThrow('run its disburse command again first');
    expect(world.state.submitted).toHaveLength(1);
    const other = createWorld();
    await other.test.split();
    await expect(other.resume()).rejects.toThrow('holds nobody back');
  });

  it('shows the wallets and asks, and keeps everybody held back after a no', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    await expect(world.resume({ ask: async () => 'n' })).rejects.toMatchObject({
      code: 'payment_declined',
    });
    expect(world.state.lines.join('\n')).toContain(
      `line 6: Name 1: 0.002001 USDC to ${world.wallets[1]?.address}, not confirmed before`,
    );
    expect(world.paid()[4]).toEqual([]);
    await world.resume({ ask: async () => 'y' });
    expect(world.paid()[4]).toEqual([2_001n]);
  });

  it.each<[string, (world: ReturnType<typeof createWorld>) => void, string]>([
    [
      'another wallet than before',
      (world) => world.set(1, { state: 'eligible', changed: { pinned: '0x01', named: '0x02' } }),
      'earlier it named 0x01: nothing is paid to either',
    ],
    [
      'the wallet of another line',
      (world) =>
        world.set(1, {
          state: 'eligible',
          address: world.entries[0]!.recipientAddress.toLowerCase(),
        }),
      'is that of another line',
    ],
    [
      'the wallet of a person who was paid',
      (world) => world.set(1, { state: 'eligible', address: world.wallets[0]!.address }),
      'is that of another line',
    ],
    [
      'a wallet that the agent finds not enrolled',
      (world) => world.set(1, { state: 'eligible', address: createFakeHolder(77).address }),
      'has not signed in and enrolled',
    ],
    [
      'a wallet of another curve',
      (world) => world.set(1, { state: 'eligible', address: 'So1anaAddress' }),
      'cannot be paid',
    ],
    ['an expired link', (world) => world.set(1, { state: 'expired' }), 'invite the person again'],
    ['a revoked link', (world) => world.set(1, { state: 'revoked' }), 'invite the person again'],
  ])('pays nobody for whom the platform names %s', async (_what, change, words) => {
    const world = createWorld();
    await world.first();
    change(world);
    const { payments, held } = await world.resume();
    expect(payments).toEqual([]);
    expect(held.find(({ payee }) => payee.line === 6)?.reason).toContain(words);
    expect(world.paid()[4]).toEqual([]);
  });
});

it.each(['2027-02-30', '15.01.2027', '2027-1-5', '2026-11-27', undefined])(
  'refuses %s as the last day',
  (text) => {
    expect(() => parseUntil(text, Date.UTC(2026, 10, 28))).toThrow('--until');
  },
);

it('takes today as the last day', () => {
  expect(parseUntil('2026-11-28', Date.UTC(2026, 10, 28, 23))).toBe('2026-11-28');
});
