// `pay-runs drop`: a person who is held back is never paid any more, whatever else runs (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { dropHeld, dropLine } from '../../../../packages/pay-run/src/commands/drop.ts';
import { payFirstRound } from '../../../../packages/pay-run/src/commands/pay-invited.ts';
import { listPayRuns, showPayRun } from '../../../../packages/pay-run/src/commands/pay-runs.ts';
import { resumePayRun } from '../../../../packages/pay-run/src/commands/resume.ts';
import type { PayRunLedger } from '../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { createWorld, name, once, openCommands, until } from './invited-world.ts';

const refused = { code: 'invalid_request' };
const nobody = { find: () => [] };

/** With the call that drops a line. */
function withDrop(world: ReturnType<typeof createWorld>) {
  const drop = async (line: string, ledger: PayRunLedger = world.ledger()) => {
    const record = await world.ledger().read(name);
    return await dropHeld({ ...name, record: record! }, line, nobody, world.deps(ledger));
  };
  return { ...world, world, drop };
}

/** Line 5 was paid. 6 and 7 are held back. */
async function createBegun() {
  const world = createWorld();
  await world.first();
  return withDrop(world);
}

/** Runs `work` before the call of the ledger with this number. */
function interrupt(ledger: PayRunLedger, at: number, work: () => Promise<unknown>) {
  let calls = 0;
  const before = async (): Promise<void> => {
    calls += 1;
    if (calls === at) {
      await work();
    }
  };
  const interrupted: PayRunLedger = {
    ...ledger,
    read: async (asked) => before().then(() => ledger.read(asked)),
    change: async (asked, decide) => before().then(() => ledger.change(asked, decide)),
  };
  return { ledger: interrupted, wasReached: () => calls >= at };
}

/** False: it was refused. */
async function isDone(dropping: Promise<unknown>): Promise<boolean> {
  try {
    await dropping;
    return true;
  } catch (error) {
    expect(['invalid_request', 'pay_run_conflict']).toContain((error as { code: unknown }).code);
    return false;
  }
}

describe('pay-runs drop', () => {
  it('ends a line by number or name, and says so when it is repeated', async () => {
    const { world } = await createBegun();
    const { payer, output, printed } = await openCommands(world);
    const drop = (line: string, json = false) => dropLine('2026-11', payer, { line, json }, output);
    expect(await drop('6')).toBe(0);
    expect(printed()).toBe(
      'line 6: Name 1: 0.002001 USDC: dropped, and never paid under this label',
    );
    expect(await drop('Name 2', true)).toBe(0);
    const dropped = { line: 7, reference: 'person-2', label: 'Name 2', amount: '2002' };
    expect(JSON.parse(printed())).toMatchObject({ ...dropped, isRepeat: false });
    expect(await drop('person-1')).toBe(0);
    expect(printed()).toMatch(
      /^line 6: Name 1: 0.002001 USDC: was dropped before, at 20\d\d-.* UTC$/,
    );
    world.enrol(1);
    expect(await resumePayRun('2026-11', payer, { acceptWallets: true }, output)).toBe(0);
    expect(printed()).toBe('this run sent nothing\nnobody is held back');
    expect(world.paid()).toEqual([...once.slice(0, 4), [], []]);
  });

  it('shows what is held back and what was dropped', async () => {
    const { world, drop } = await createBegun();
    world.state.nowMs = Date.UTC(2026, 10, 29, 8, 30);
    await drop('6');
    const { payer, output, printed } = await openCommands(world);
    await listPayRuns(payer, {}, output);
    expect(printed()).toContain(`; 1 held back until ${until}; 1 dropped`);
    await showPayRun('2026-11', payer, {}, output);
    expect(printed().split('\n').slice(-2)).toEqual([
      '  line 7: Name 2: 0.002002 USDC: held back',
      '  line 6: Name 1: 0.002001 USDC: dropped 2026-11-29 08:30 UTC',
    ]);
    await showPayRun('2026-11', payer, { json: true }, output);
    const droppedAt = '2026-11-29T08:30:00.000Z';
    expect(JSON.parse(printed()).payRuns).toContainEqual(
      expect.objectContaining({
        heldBack: 1,
        dropped: [{ line: 6, reference: 'person-1', amount: '2001', droppedAt }],
      }),
    );
  });

  it('is kept by the first command too, and pays the others', async () => {
    const { drop, enrol, first, resume, paid } = await createBegun();
    await drop('6');
    enrol(1);
    enrol(2);
    expect((await first()).held.map(({ payee }) => payee.line)).toEqual([7]);
    expect((await resume()).held).toEqual([]);
    expect(paid()).toEqual([...once.slice(0, 4), [], once[5]]);
    expect((await drop('6')).isRepeat).toBe(true);
  });

  it('refuses a line that was paid or is being sent, and takes one whose payment failed', async () => {
    const { drop, enrol, resume, state, paid } = await createBegun();
    await expect(drop('5')).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('line 5 is not held back. It is in the payment 2026-11, '),
    });
    enrol(1);
    enrol(2);
    state.verdict = () => 'failed';
    await resume();
    await drop('6');
    state.verdict = () => 'settling';
    const sending = resume();
    await expect.poll(() => state.settling.length).toBe(1);
    await expect(drop('7')).rejects.toThrow('in the payment 2026-11#3, which was paid or is');
    await state.settling[0]!('completed');
    await sending;
    await expect(drop('7')).rejects.toMatchObject(refused);
    expect(paid()).toEqual([...once.slice(0, 4), [], once[5]]);
  });

  it('either drops or is refused, at whatever point of a resumption it comes', async () => {
    const outcomes = new Set<boolean>();
    for (let at = 1; ; at += 1) {
      const { drop, enrol, resume, paid, ledger } = await createBegun();
      enrol(1);
      let isDropped = false;
      const other = interrupt(ledger(), at, async () => {
        isDropped = await isDone(drop('6'));
      });
      await resume({ ledger: other.ledger }).catch((error: unknown) =>
        expect(error).toMatchObject({ code: 'pay_run_conflict' }),
      );
      await resume();
      expect(paid()[4], `call ${at}`).toEqual(isDropped ? [] : [2_001n]);
      if (!other.wasReached()) {
        break;
      }
      outcomes.add(isDropped);
    }
    expect(outcomes).toEqual(new Set([true, false]));
  });

  it('either drops or is refused, at whatever point of it a resumption comes', async () => {
    const outcomes = new Set<boolean>();
    for (let at = 1; ; at += 1) {
      const { drop, enrol, resume, paid, ledger } = await createBegun();
      enrol(1);
      const other = interrupt(ledger(), at, resume);
      const isDropped = await isDone(drop('6', other.ledger));
      await resume();
      expect(paid()[4], `call ${at}`).toEqual(isDropped ? [] : [2_001n]);
      if (!other.wasReached()) {
        break;
      }
      outcomes.add(isDropped);
    }
    expect(outcomes.has(false)).toBe(true);
  });

  it('drops nobody in a ledger that was lost or is an older copy', async () => {
    const { drop, enrol, resume, world, loseLedger } = await createBegun();
    const older = (await world.ledger().read(name))!;
    enrol(1);
    await resume();
    loseLedger();
    await world.ledger().change(name, () => older);
    await expect(drop('6')).rejects.toMatchObject({ code: 'pay_run_conflict' });
    expect(await world.ledger().read(name)).toEqual(older);
  });

  it('holds before anybody was paid: the label keeps its roster, and a first command that runs then stops', async () => {
    const { drop, enrol, first, resume, world, plan, deps, paid } = withDrop(
      createWorld([false, false], 0),
    );
    await first();
    await drop('2');
    enrol(0);
    enrol(1);
    const another = { ...plan, entries: plan.entries.slice(0, 1) };
    await expect(payFirstRound(another, until, deps())).rejects.toMatchObject({
      code: 'pay_run_conflict',
    });
    expect((await first()).held.map(({ payee }) => payee.line)).toEqual([3]);
    await resume();
    expect(paid()).toEqual([[], [2_001n]]);

    const second = withDrop(createWorld([false, false], 0));
    await second.first();
    second.enrol(0);
    const ask = async (): Promise<string> => {
      await second.drop('2');
      return 'y';
    };
    await expect(second.first({ ask })).rejects.toMatchObject({ code: 'pay_run_conflict' });
    await second.resume();
    expect(second.paid()).toEqual([[], []]);
    expect(world.paid()[0]).toEqual([]);
  });

  it('names what it cannot find, and waits for the first command', async () => {
    const { drop, test } = await createBegun();
    await expect(drop('Ada')).rejects.toThrow('"Ada" is none of the lines that name invited');
    await expect(drop('2')).rejects.toThrow('people: 5, 6, 7.');
    await test.split({ payRun: 'other' });
    const other = { ...name, payRun: 'other' };
    const record = (await test.ledger().read(other))!;
    const dropping = dropHeld({ ...other, record }, '2', nobody, {
      ...{ ledger: test.ledger(), client: test.client, nowMs: () => 1 },
    });
    await expect(dropping).rejects.toThrow('holds nobody back');
    const failed = withDrop(createWorld());
    failed.state.verdict = () => 'failed';
    await failed.first();
    await expect(failed.drop('6')).rejects.toThrow('run its disburse command again first');
  });
});
