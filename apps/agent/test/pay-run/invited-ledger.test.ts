// Invited people and what can go wrong beside the payment: a lost ledger, an older copy, payments that were decided and not sent, and wallets
// that nobody has confirmed (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { payFirstRound } from '../../../../packages/pay-run/src/commands/pay-invited.ts';
import { listPayRuns, showPayRun } from '../../../../packages/pay-run/src/commands/pay-runs.ts';
import { nameOfRound } from '../../../../packages/pay-run/src/ledger/invited-record.ts';
import type { PayRunRecord } from '../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { createWorld, name, once, openCommands, until } from './invited-world.ts';

const conflict = { code: 'pay_run_conflict' };

/** All invited, so that only later payments pay. */
async function createAllInvited() {
  const world = createWorld([false, false], 0);
  await world.first();
  return { ...world, before: (await world.ledger().read(name))! };
}

async function restore(world: ReturnType<typeof createWorld>, copy: PayRunRecord): Promise<void> {
  world.loseLedger();
  await world.ledger().change(name, () => copy);
}

describe('a ledger that was lost or is an older copy', () => {
  it('pays nobody of a roster whose first payment was of nobody', async () => {
    const world = await createAllInvited();
    world.enrol(0);
    await world.resume();
    world.loseLedger();
    await expect(world.first()).rejects.toMatchObject(conflict);
    expect(world.paid()).toEqual([[2_000n], []]);
  });

  it('pays nobody if the payment that it does not know comes after a gap', async () => {
    const world = await createAllInvited();
    // A resumption that died: number 2 is decided and was never sent.
    await world.ledger().change(name, ({ ...record } = world.before) => ({
      ...record,
      invited: { ...record.invited!, rounds: 2 },
    }));
    world.enrol(0);
    await world.resume();
    expect(world.state.submitted[0]).toMatch(/^2026-11#3-/);
    await restore(world, world.before);
    world.enrol(1);
    await expect(world.resume()).rejects.toMatchObject(conflict);
    await expect(world.first()).rejects.toMatchObject(conflict);
    expect(world.paid()).toEqual([[2_000n], []]);
  });

  it('pays nobody if a payment is decided in it and recorded nowhere, and the agent has it', async () => {
    const world = await createAllInvited();
    world.enrol(0);
    await world.resume();
    await restore(world, (await world.ledger().read(name))!);
    await expect(world.resume()).rejects.toMatchObject(conflict);
    expect(world.paid()).toEqual([[2_000n], []]);
  });

  it('pays nobody by a resumption whose ledger does not know that the first payment had somebody', async () => {
    const world = await createAllInvited();
    world.enrol(0);
    await world.first();
    await restore(world, world.before);
    await expect(world.resume()).rejects.toMatchObject(conflict);
    expect(world.paid()).toEqual([[2_000n], []]);
  });

  it('pays nobody whatever the number of parts of the first payment was', async () => {
    // Of four people three were paid first, one by one.
    const world = createWorld([true, true, true, false], 0);
    world.state.ceiling = 1;
    await world.first();
    expect(world.state.submitted[0]).toContain('1of3');
    world.loseLedger();
    world.state.ceiling = 2;
    await expect(world.first()).rejects.toMatchObject(conflict);
    expect(world.paid()).toEqual([[2_000n], [2_001n], [2_002n], []]);
  });
});

describe('a payment to people who were held back', () => {
  it('gets its number only when it can be sent', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    world.chain.balance = 1n;
    const { stop, held } = await world.resume();
    expect(stop).toMatchObject({ code: 'insufficient_balance', exitCode: 6 });
    expect(held.map(({ payee }) => payee.line)).toEqual([6, 7]);
    expect((await world.ledger().read(name))?.invited?.rounds).toBe(1);
    world.chain.balance = 10n ** 12n;
    await world.resume();
    expect(world.paid()).toEqual([...once.slice(0, 5), []]);
  });

  it('has its people held back again if it failed, in every report', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    world.state.verdict = () => 'failed';
    expect((await world.resume()).held.map(({ payee }) => payee.line)).toEqual([6, 7]);
    expect((await world.first()).held.map(({ payee }) => payee.line)).toEqual([6, 7]);
    expect((await world.ledger().read(nameOfRound(name, 2)))?.parts[0]?.sent).toBe('accepted');
  });

  it('is in one part, also if the ceiling falls meanwhile', async () => {
    const world = createWorld();
    await world.first();
    world.enrol(1);
    world.enrol(2);
    let asked = 0;
    await world.resume({
      readCeiling: async () => {
        asked += 1;
        return asked === 1 ? 2 : 1;
      },
    });
    expect(world.state.submitted.at(-1)).toMatch(/^2026-11#2-[0-9a-f]+$/);
    expect(world.paid()).toEqual(once);
  });
});

describe('a wallet that nobody has confirmed', () => {
  it('is held back where nobody is asked, and paid after a yes or by an option', async () => {
    const world = createWorld([true, true, false]);
    const unasked = { acceptWallets: false };
    expect((await world.first(unasked)).held.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('--accept-wallets'),
      expect.stringContaining('--accept-wallets'),
      expect.stringContaining('no wallet has accepted it'),
    ]);
    expect(world.paid().slice(3)).toEqual([[], [], []]);
    expect((await world.resume(unasked)).held).toHaveLength(3);
    const asking = (answer: string) => ({ ...unasked, ask: async () => answer });
    await expect(world.resume(asking('n'))).rejects.toMatchObject({ code: 'payment_declined' });
    // A no confirms nothing.
    expect((await world.resume(unasked)).held).toHaveLength(3);
    expect((await world.resume(asking('y'))).held).toHaveLength(1);
    world.enrol(2);
    expect((await world.resume({ acceptWallets: true })).held).toEqual([]);
    expect(world.paid()).toEqual(once);
  });

  it('is confirmed by the first payment, for the next month too', async () => {
    const world = createWorld([true]);
    await world.first({ acceptWallets: false, ask: async () => 'y' });
    const next = { ...world.plan, payRun: '2026-12' };
    const { held } = await payFirstRound(next, until, { ...world.deps(), acceptWallets: false });
    expect(held).toEqual([]);
    expect(world.paid()[3]).toEqual([2_000n, 2_000n]);
  });
});

it.each([
  ['failed', 2],
  ['completed', 1],
] as const)('lists people of a later payment that %s: %i held back', async (verdict, heldBack) => {
  const world = createWorld();
  await world.first();
  world.enrol(1);
  world.state.verdict = () => verdict;
  await world.resume();
  const { payer, output, printed } = await openCommands(world);
  await listPayRuns(payer, {}, output);
  expect(printed()).toContain(`; ${heldBack} held back until ${until}`);
  await showPayRun(name.payRun, payer, { json: true }, output);
  expect(JSON.parse(printed()).payRuns).toContainEqual(
    expect.objectContaining({ payRun: name.payRun, heldBack }),
  );
});
