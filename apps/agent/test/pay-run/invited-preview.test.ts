// `pay-runs resume --dry-run`: who would be paid, and why the others would not (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { previewHeld, resumePayRun } from '../../../../packages/pay-run/src/commands/resume.ts';
import { nameOfRound } from '../../../../packages/pay-run/src/ledger/invited-record.ts';
import { createWorld, name, once, openCommands } from './invited-world.ts';

/** Line 5 was paid, 6 can be paid, and 7 has not enrolled. */
async function createBegun() {
  const world = createWorld();
  await world.first();
  world.enrol(1);
  const preview = async () => {
    const record = (await world.ledger().read(name))!;
    return previewHeld({ ...name, record }, world.deps());
  };
  return { ...world, world, preview };
}

/** For commands, which have the real clock. */
async function openUntil(world: ReturnType<typeof createWorld>, until: string) {
  await world.ledger().change(name, (record) => ({
    ...record!,
    invited: { ...record!.invited!, until },
  }));
  return await openCommands(world);
}

describe('pay-runs resume --dry-run', () => {
  it('prints each person, the sum and the states, and neither sends nor stores anything', async () => {
    const { world, wallets, state } = await createBegun();
    const { payer, output, printed } = await openUntil(world, '2999-01-15');
    const invitations = { ...payer.invitations, confirm: () => Promise.reject(new Error('kept')) };
    const [sent, before] = [[...state.submitted], await world.ledger().listAll()];
    const run = (options: object) =>
      resumePayRun(' 2026-11 ', { ...payer, invitations }, { ...options, dryRun: true }, output);
    expect(await run({ acceptWallets: true })).toBe(5);
    expect(printed().split('\n')).toEqual([
      'dry run: pay run 2026-11 on anvil would pay 1 of 2 recipient(s) who are held back until 2999-01-15, 0.002001 USDC in total',
      `  line 6: Name 1: 0.002001 USDC to ${wallets[1]?.address}: ready, not confirmed before`,
      '  line 7: Name 2: 0.002002 USDC: not enrolled: the link was opened, and no wallet has accepted it',
    ]);
    expect(await run({ json: true })).toBe(5);
    expect(JSON.parse(printed())).toMatchObject({
      ...{ ok: true, payRun: '2026-11', chain: 'anvil', token: 'USDC', unseen: [] },
      payment: { recipients: 0, total: '0', inTokenUnits: { total: '0' } },
      heldBack: [
        {
          ...{ line: 6, label: 'Name 1', reference: 'person-1', amount: '2001' },
          ...{ standing: 'not-confirmed', inTokenUnits: { amount: '0.002001' } },
          ...{ address: wallets[1]?.address, reason: expect.stringContaining('--accept-wallets') },
        },
        { line: 7, standing: 'not-enrolled', inTokenUnits: { amount: '0.002002' } },
      ],
    });
    expect(state.submitted).toEqual(sent);
    expect(await world.ledger().listAll()).toEqual(before);
  });

  it('says of everybody that the last day has passed, and pays nobody', async () => {
    const { world, wallets } = await createBegun();
    const { payer, output, printed } = await openUntil(world, '2026-01-15');
    const options = { dryRun: true, acceptWallets: true };
    expect(await resumePayRun('2026-11', payer, options, output)).toBe(2);
    const [head, first, second] = printed().split('\n');
    expect(head).toContain('would pay 0 of 2 recipient(s)');
    expect(head).toContain('2026-01-15, 0 USDC in total');
    expect(first).toContain(`line 6: Name 1: 0.002001 USDC to ${wallets[1]?.address}: past date: `);
    expect(second).toContain('and that day has passed');
  });

  it('says what prevents the payment', async () => {
    const { chain, preview } = await createBegun();
    chain.balance = 1n;
    expect((await preview()).stop).toMatchObject({ code: 'insufficient_balance', exitCode: 6 });
    chain.balance = 10n ** 12n;
    expect((await preview()).stop).toBeUndefined();
  });

  it('counts those whose later payment failed, and not those who were paid', async () => {
    const { state, preview, resume, enrol } = await createBegun();
    state.verdict = () => 'failed';
    await resume();
    expect((await preview()).held.map(({ payee }) => payee.line)).toEqual([6, 7]);
    state.verdict = () => 'completed';
    await resume();
    enrol(2);
    expect((await preview()).held.map(({ payee, state: is }) => [payee.line, is])).toEqual([
      [7, 'ready'],
    ]);
  });

  it('names a payment whose answer was not seen, which a resumption sends again', async () => {
    const { state, preview, resume, client, paid } = await createBegun();
    const lost = async (): Promise<never> => {
      throw new Error('killed');
    };
    await expect(resume({ client: { ...client, submit: lost } })).rejects.toThrow('killed');
    expect(await preview()).toMatchObject({
      held: [{ payee: { line: 7 } }],
      unseen: [{ payRun: '2026-11#2', amounts: ['2001'] }],
    });
    expect(paid()[4]).toEqual([]);
    await resume();
    expect(paid()).toEqual([...once.slice(0, 5), []]);
    expect((await preview()).unseen).toEqual([]);
    expect(state.submitted.at(-1)).toMatch(/^2026-11#2-/);
  });

  it('refuses with an older copy of the ledger', async () => {
    const { world, preview, resume, loseLedger } = await createBegun();
    const older = (await world.ledger().read(name))!;
    await resume();
    const newer = (await world.ledger().read(name))!;
    for (const copy of [older, newer]) {
      loseLedger();
      await world.ledger().change(name, () => copy);
      expect(await world.ledger().read(nameOfRound(name, 2))).toBeUndefined();
      await expect(preview()).rejects.toMatchObject({ code: 'pay_run_conflict' });
    }
  });

  it('waits for the first command, as the resumption does', async () => {
    const world = createWorld();
    world.state.verdict = () => 'failed';
    await world.first();
    const record = (await world.ledger().read(name))!;
    const previewing = previewHeld({ ...name, record }, world.deps());
    await expect(previewing).rejects.toThrow('run its disburse command again first');
  });
});
