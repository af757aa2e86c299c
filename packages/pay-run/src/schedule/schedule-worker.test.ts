// The life of an occurrence: prepared ahead, released, paid once, or skipped with a reason. On SQLite, and in Vitest's project `postgres` on
// a server, where two agents share it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPaymentWindows } from '@pool/operations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPolicy, createScheduleWorld } from '../fixtures/schedule-world.ts';
import { skipOccurrence, switchSchedule } from './schedule-commands.ts';
import { createSchedulePass } from './schedule-worker.ts';

type World = Awaited<ReturnType<typeof createScheduleWorld>>;
let world: World;

beforeEach(async () => {
  world = await createScheduleWorld('2027-03-01T00:00:00Z');
});
afterEach(() => world.close());

/** An agent with the schedule `monthly`, and the roster of March. The payment is on 31 March at 07:00 UTC. */
async function setUp(...given: Parameters<World['startAgent']>) {
  const agent = await world.startAgent(...given);
  await agent.schedules.add(world.define('monthly'));
  world.writeRoster('payroll-2027-03.csv');
  const march = async () => await agent.schedules.findOccurrence('monthly', '2027-03');
  return { ...agent, march };
}

const ahead = '2027-03-28T08:00:00Z';
function submitted(): readonly string[] {
  return world.agent.state.submitted;
}

describe('an occurrence', () => {
  it('is prepared ahead, with its window before its job, and paid once', async () => {
    const { pass, march, store } = await setUp();
    await pass();
    expect(await march()).toBeUndefined();
    world.setClock(ahead);
    await pass();
    const [key] = submitted();
    expect(key).toMatch(/^salaries-2027-03-/);
    expect(await march()).toMatchObject({ state: 'prepared', prepared: { keys: [key] } });
    expect(await createPaymentWindows(store).find(key ?? '')).toEqual({
      owner: 'monthly 2027-03',
      isWithdrawn: false,
      releaseByMs: Date.parse('2027-03-30T07:00:00Z'),
      payAtMs: Date.parse('2027-03-31T07:00:00Z'),
      payByMs: Date.parse('2027-03-31T19:00:00Z'),
    });
    world.agent.pay(key ?? '');
    await pass();
    expect((await march())?.state).toBe('paid');
    for (const at of [
      ahead,
      '2027-03-31T07:00:00Z',
      '2027-03-01T00:00:00Z',
      '2027-04-02T00:00:00Z',
    ]) {
      world.setClock(at);
      await pass();
    }
    expect(submitted()).toHaveLength(1);
  });

  it('is prepared in as many parts as the chain requires', async () => {
    const { pass, march } = await setUp(createPolicy(), 1);
    world.setClock(ahead);
    await pass();
    expect(submitted()).toHaveLength(2);
    const [first = '', second = ''] = submitted();
    world.agent.pay(first);
    world.agent.fail(second, 'release_denied');
    await pass();
    expect(await march()).toMatchObject({
      state: 'partly-paid',
      cause: { message: expect.stringContaining('1 of 2 parts') },
    });
  });

  it('without its roster is tried until its deadline, and then skipped with the reason', async () => {
    const { pass, march, schedules } = await setUp();
    await schedules.add(
      world.define('other', { roster: join(world.home, 'no.csv'), label: 'o-{period}' }),
    );
    world.setClock(ahead);
    await pass();
    const other = async () => await schedules.findOccurrence('other', '2027-03');
    expect(await other()).toMatchObject({ state: 'due', cause: { code: 'invalid_roster' } });
    expect((await march())?.state).toBe('prepared');
    world.setClock('2027-03-30T07:00:00Z');
    world.writeRoster('no.csv');
    await pass();
    expect(await other()).toMatchObject({
      state: 'skipped',
      cause: { message: expect.stringMatching(/not paid late.*there is no file/) },
    });
    expect(submitted()).toHaveLength(1);
  });

  it.each(['release_expired', 'release_denied', 'cancelled'])(
    'whose job ended with %s is skipped',
    async (code) => {
      const { pass, march } = await setUp();
      world.setClock(ahead);
      await pass();
      world.agent.fail(submitted()[0] ?? '', code);
      await pass();
      expect(await march()).toMatchObject({ state: 'skipped', cause: { code } });
      await pass();
      expect(submitted()).toHaveLength(1);
    },
  );

  it('is skipped when no agent was there in time, and the next one is prepared', async () => {
    const { pass, march, schedules } = await setUp();
    world.writeRoster('payroll-2027-04.csv');
    world.setClock('2027-04-28T00:00:00Z');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'late' } });
    expect((await schedules.findOccurrence('monthly', '2027-04'))?.state).toBe('prepared');
    expect(submitted()).toHaveLength(1);
  });

  it('is withdrawn when its roster changes after it was prepared', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    await pass();
    world.writeRoster('payroll-2027-03.csv', '1501');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'roster_changed' } });
    await expect(world.agent.client.job(submitted()[0] ?? '')).resolves.toMatchObject({
      state: 'failed',
    });
  });

  it('is not withdrawn when its roster is written in another way, or is away', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    await pass();
    world.writeRoster('payroll-2027-03.csv', '1500.00');
    await pass();
    rmSync(join(world.home, 'payroll-2027-03.csv'));
    await pass();
    expect((await march())?.state).toBe('prepared');
  });

  it('whose roster is refused by the checks is not submitted', async () => {
    const { pass, march } = await setUp();
    world.agent.state.issues.push({
      requestIndex: 0,
      code: 'unregistered-recipient',
      message: 'who',
    });
    world.setClock(ahead);
    await pass();
    expect(await march()).toMatchObject({ state: 'due', cause: { code: 'invalid_roster' } });
    expect(submitted()).toEqual([]);
  });

  it('is prepared before its money is there, and says so', async () => {
    const { pass, march } = await setUp();
    world.agent.state.preflight.push({ code: 'insufficient_balance', message: 'too little' });
    world.setClock(ahead);
    await pass();
    expect(await march()).toMatchObject({
      state: 'prepared',
      cause: { code: 'insufficient_balance' },
    });
  });

  it('is not prepared if the policy lets its amount pass without a person', async () => {
    const { pass, march } = await setUp(createPolicy(0));
    world.writeRoster('payroll-2027-03.csv', '1');
    world.setClock(ahead);
    await pass();
    expect(await march()).toMatchObject({
      state: 'due',
      cause: { code: 'release_policy_refused' },
    });
    expect(submitted()).toEqual([]);
  });

  it('is not prepared by an agent without a policy', async () => {
    const { schedules, march } = await setUp();
    const other = await world.startAgent();
    world.setClock(ahead);
    await createSchedulePass({ ...other.deps, policy: undefined })();
    expect(await march()).toMatchObject({ state: 'due', cause: { code: 'invalid_policy' } });
    expect(submitted()).toEqual([]);
    expect(await schedules.listNoticed()).toHaveLength(1);
  });

  it('whose label was used by hand is not paid again', async () => {
    const { pass, march, schedules } = await setUp();
    await schedules.add(world.define('twin'));
    world.setClock(ahead);
    await pass();
    expect(await march()).toMatchObject({ state: 'prepared' });
    expect(await schedules.findOccurrence('twin', '2027-03')).toMatchObject({
      state: 'due',
      cause: { code: 'pay_run_conflict' },
    });
    expect(submitted()).toHaveLength(1);
  });
});

describe('a crash', () => {
  it.each(['before', 'after'] as const)('%s the submission leads to one job', async (when) => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    world.agent.state.onSubmit = (at) => {
      if (at === when) {
        throw new Error('killed');
      }
    };
    await pass();
    expect((await march())?.state).toBe('prepared');
    world.agent.state.onSubmit = () => undefined;
    world.setClock('2027-03-28T08:10:00Z');
    await pass();
    expect(submitted()).toHaveLength(1);
    expect((await march())?.state).toBe('prepared');
  });

  it('whose roster was changed before the next start pays neither', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    world.agent.state.onSubmit = () => {
      throw new Error('killed');
    };
    await pass();
    world.agent.state.onSubmit = () => undefined;
    world.writeRoster('payroll-2027-03.csv', '2');
    world.setClock('2027-03-28T08:10:00Z');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'roster_changed' } });
    expect(submitted()).toEqual([]);
  });
});

it('two agents prepare an occurrence once', async () => {
  const { pass, march } = await setUp();
  const agents = [
    pass,
    ...(await Promise.all([1, 2, 3].map(() => world.startAgent()))).map((one) => one.pass),
  ];
  world.setClock(ahead);
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(agents.map((run) => run()));
    world.clock.nowMs += 61_000;
  }
  expect(submitted()).toHaveLength(1);
  expect((await march())?.state).toBe('prepared');
});

describe('a person', () => {
  it('skips what is prepared, and it is cancelled', async () => {
    const { pass, deps, march } = await setUp();
    world.setClock(ahead);
    await pass();
    await skipOccurrence('monthly', '2027-03', deps);
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'skipped' } });
    await expect(world.agent.client.job(submitted()[0] ?? '')).resolves.toMatchObject({
      state: 'failed',
    });
    await expect(skipOccurrence('monthly', '2027-03', deps)).rejects.toThrow('has ended');
  });

  it('skips a period before it is due, and it is never prepared', async () => {
    const { pass, deps, march } = await setUp();
    await skipOccurrence('monthly', '2027-03', deps);
    world.setClock(ahead);
    await pass();
    expect((await march())?.state).toBe('skipped');
    expect(submitted()).toEqual([]);
    await expect(skipOccurrence('monthly', '2027-13', deps)).rejects.toThrow('no period');
  });

  it('pauses, and what is due meanwhile is skipped', async () => {
    const { pass, deps, march } = await setUp();
    await switchSchedule('monthly', 'paused', deps);
    world.setClock(ahead);
    await pass();
    world.setClock('2027-03-30T07:00:00Z');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'paused' } });
    await switchSchedule('monthly', 'active', deps);
    await pass();
    expect(submitted()).toEqual([]);
  });

  it('cannot remove a schedule with something prepared, and a period stays decided when it is added again', async () => {
    const { pass, deps, schedules, march } = await setUp();
    world.setClock(ahead);
    await pass();
    await expect(switchSchedule('monthly', 'removed', deps)).rejects.toThrow('skip monthly');
    world.agent.pay(submitted()[0] ?? '');
    await pass();
    await switchSchedule('monthly', 'removed', deps);
    await schedules.add(world.define('monthly'));
    world.writeRoster('payroll-2027-03.csv', '7');
    await pass();
    expect((await march())?.state).toBe('paid');
    expect(submitted()).toHaveLength(1);
    await expect(schedules.add(world.define('monthly'))).rejects.toThrow('there is a schedule');
  });
});
