// What goes wrong around an occurrence: files that are written at the wrong moment, processes that are slow or die, settings and schedules
// that change in between. On SQLite, and in Vitest's project `postgres` on a server.
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { createPaymentWindows } from '@pool/operations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScheduleWorld, damageRow } from '../fixtures/schedule-world.ts';
import { planOccurrence } from './definition.ts';
import { listSchedules, skipOccurrence, switchSchedule } from './schedule-commands.ts';
import { definitionScope, occurrenceScope } from './schedule-store.ts';
import { summarizeSchedules } from './schedule-summary.ts';
import { createSchedulePass } from './schedule-worker.ts';
import { createScheduledWindows } from './scheduled-windows.ts';

type World = Awaited<ReturnType<typeof createScheduleWorld>>;
let world: World;

beforeEach(async () => {
  world = await createScheduleWorld('2027-03-01T00:00:00Z');
});
afterEach(() => world.close());

const ahead = '2027-03-28T08:00:00Z';
const later = '2027-03-28T08:10:00Z';
const roster = 'payroll-2027-03.csv';

/** An agent with the schedule `monthly`, and the roster of March. The payment is on 31 March at 07:00 UTC. */
async function setUp() {
  const agent = await world.startAgent();
  await agent.schedules.add(world.define('monthly'));
  world.writeRoster(roster);
  const march = async () => await agent.schedules.findOccurrence('monthly', '2027-03');
  return { ...agent, march };
}

function submitted(): readonly string[] {
  return world.agent.state.submitted;
}

function stateOfJob(at = 0): Promise<unknown> {
  return world.agent.client.job(submitted()[at] ?? '').then(({ state }) => state);
}

describe('a roster', () => {
  it('that is being written is not read until it has settled', async () => {
    const { pass, march } = await setUp();
    world.touchRoster(roster, '2027-03-28T07:59:30Z');
    world.setClock(ahead);
    await pass();
    expect(await march()).toMatchObject({
      state: 'due',
      cause: { message: expect.stringContaining('less than a minute ago') },
    });
    world.setClock(later);
    await pass();
    expect((await march())?.state).toBe('prepared');
  });

  it('that is written anew after it was prepared withdraws nothing until it has settled', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    await pass();
    world.writeRoster(roster, '1');
    world.touchRoster(roster, ahead);
    await pass();
    expect((await march())?.state).toBe('prepared');
    world.writeRoster(roster);
    world.touchRoster(roster, ahead);
    world.setClock(later);
    await pass();
    expect((await march())?.state).toBe('prepared');
    world.writeRoster(roster, '1');
    world.touchRoster(roster, ahead);
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'roster_changed' } });
  });
});

describe('a withdrawal', () => {
  it('is decided before it is carried out, and goes on when the roster is as before', async () => {
    const { pass, march, store } = await setUp();
    world.setClock(ahead);
    await pass();
    world.writeRoster(roster, '1501');
    world.agent.state.onCancel = () => {
      throw new PoolError('agent_unreachable', 'no agent', { retryable: true });
    };
    await pass();
    expect(await march()).toMatchObject({
      state: 'prepared',
      withdrawal: { code: 'roster_changed' },
    });
    const [key = ''] = submitted();
    expect(await createPaymentWindows(store).find(key)).toMatchObject({ isWithdrawn: true });
    world.writeRoster(roster);
    world.agent.state.onCancel = () => undefined;
    world.setClock(later);
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'roster_changed' } });
    expect(await stateOfJob()).toBe('failed');
  });

  it('by a person is decided while no agent answers', async () => {
    const { pass, deps, march } = await setUp();
    world.setClock(ahead);
    await pass();
    const client = {
      ...deps.client,
      find: async () => {
        throw new PoolError('agent_unreachable', 'no agent answers');
      },
    };
    const { lines } = await skipOccurrence('monthly', '2027-03', { ...deps, client });
    expect(lines.join(' ')).toMatch(/is withdrawn.*no agent answers/);
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'skipped' } });
    expect(await stateOfJob()).toBe('failed');
  });

  it('counts for a part that a slow agent sends afterwards', async () => {
    const { pass, deps, march, store } = await setUp();
    world.setClock(ahead);
    let skipped: Promise<unknown> | undefined;
    world.agent.state.onSubmit = (when) => {
      if (when === 'before') {
        world.setClock(later);
        skipped = skipOccurrence('monthly', '2027-03', deps);
      }
    };
    const { submit } = world.agent.client;
    const client = {
      ...deps.client,
      submit: async (...args: Parameters<typeof submit>) => {
        world.agent.state.onSubmit('before');
        await skipped;
        world.agent.state.onSubmit = () => undefined;
        return await submit(...args);
      },
    };
    // The agent sleeps for longer than its lease.
    const schedules: typeof deps.schedules = {
      ...deps.schedules,
      lease: (id, workerId) => deps.schedules.lease(id, workerId, 1),
    };
    await createSchedulePass({ ...deps, client, schedules })();
    expect((await march())?.state).toBe('skipped');
    expect(await createPaymentWindows(store).find(submitted()[0] ?? '')).toMatchObject({
      isWithdrawn: true,
    });
    await pass();
    expect((await march())?.state).toBe('skipped');
  });
});

describe('an occurrence', () => {
  it('does not send or withdraw what another one has claimed', async () => {
    const { deps, march, schedules, pass } = await setUp();
    await schedules.add(world.define('twin'));
    world.setClock(ahead);
    let opened = 0;
    const openLedger: typeof deps.openLedger = async () => {
      opened += 1;
      if (opened === 2) {
        throw new Error('the process dies before the ledger knows of it');
      }
      return await deps.openLedger();
    };
    await createSchedulePass({ ...deps, openLedger })();
    expect((await march())?.state).toBe('prepared');
    expect(await schedules.findOccurrence('twin', '2027-03')).toMatchObject({
      state: 'due',
      cause: { message: expect.stringContaining('belong to the occurrence monthly 2027-03') },
    });
    world.setClock(later);
    await pass();
    await skipOccurrence('twin', '2027-03', deps);
    expect(await stateOfJob()).toBe('submitted');
    expect(submitted()).toHaveLength(1);
  });

  it('says at its deadline why the agent did not take it', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    world.agent.state.onSubmit = () => {
      throw new PoolError('unregistered-recipient', 'Ada is not enrolled any more');
    };
    await pass();
    world.setClock('2027-03-30T07:00:00Z');
    await pass();
    expect(await march()).toMatchObject({
      state: 'skipped',
      cause: { code: 'late', message: expect.stringContaining('Ada is not enrolled') },
    });
  });

  it('that is known before its time is not prepared before its time', async () => {
    const { pass, march, schedules } = await setUp();
    const plan = planOccurrence(world.define('monthly'), {
      ...{ period: '2027-03', date: '2027-03-31', payAtMs: Date.parse('2027-03-31T07:00:00Z') },
    });
    await schedules.notice(plan);
    await pass();
    expect((await march())?.state).toBe('due');
    expect(submitted()).toEqual([]);
  });

  it('whose deadline has passed when the schedule is added is none of it', async () => {
    const { schedules, pass } = await world.startAgent();
    world.setClock('2027-03-30T12:00:00Z');
    await schedules.add(world.define('monthly'));
    world.setClock('2027-03-31T08:00:00Z');
    await pass();
    expect(await schedules.listNoticed()).toEqual([]);
    expect(() => world.define('late', { on: '2027-04-01', label: 'late' })).toThrow('deadline');
  });

  it('that cannot be read stops no other one', async () => {
    const { pass, march, store } = await setUp();
    const damaged = { scope: occurrenceScope, key: 'gone 2027-03', fingerprint: 'x' };
    await store.claim({ ...damaged, state: 'due', payload: '{', nowMs: 1 });
    world.setClock(ahead);
    await pass();
    expect((await march())?.state).toBe('prepared');
    expect(world.lines).toContainEqual({ occurrence: 'gone 2027-03', code: 'store_damaged' });
  });
});

describe('a damaged schedule', () => {
  async function prepareTwo() {
    const agent = await setUp();
    await agent.schedules.add(world.define('bonus', { label: 'bonus-{period}' }));
    world.setClock(ahead);
    await agent.pass();
    const keys = submitted();
    const windows = createScheduledWindows(agent.store);
    const find = async (owner: string) => {
      const found = await Promise.allSettled(keys.map((key) => windows.find(key)));
      return found.filter((one) => one.status === 'fulfilled' && one.value?.owner === owner);
    };
    expect([keys.length, (await find('monthly 2027-03')).length]).toEqual([2, 1]);
    return { ...agent, find };
  }

  it.each(['monthly', 'monthly 2027-03'])(
    'signs nothing of %j until it is restored, and the other one goes on',
    async (row) => {
      const { store, pass, schedules, find } = await prepareTwo();
      const restore = await damageRow(store, row);
      world.setClock('2027-03-28T09:00:00Z');
      await pass();
      expect(await find('monthly 2027-03')).toEqual([]);
      expect(await find('bonus 2027-03')).toHaveLength(1);
      expect((await schedules.list()).schedules.map(({ definition }) => definition.name)).toEqual(
        row === 'monthly' ? ['bonus'] : ['bonus', 'monthly'],
      );
      await restore();
      expect(await find('monthly 2027-03')).toHaveLength(1);
    },
  );

  it('names a payment that cannot be read, also when its time has passed', async () => {
    const { store, deps } = await prepareTwo();
    const restore = await damageRow(store, 'monthly 2027-03');
    world.setClock('2027-03-28T10:30:00Z');
    const jobs = world.jobs;
    const name = expect.stringContaining('"monthly 2027-03" of a schedule cannot be read');
    expect((await summarizeSchedules(jobs, deps.nowMs())).damaged).toEqual([name]);
    const { lines, data, exitCode } = await listSchedules(deps);
    expect([lines.at(-1), exitCode]).toEqual([name, 1]);
    expect(data).toMatchObject({ damaged: [], damagedPayments: ['monthly 2027-03'] });
    await restore();
    expect((await summarizeSchedules(jobs, deps.nowMs())).damaged).toEqual([]);
    expect((await listSchedules(deps)).exitCode).toBe(0);
  });

  it('prepares nothing, is in the log once, and can be ended, removed and added again', async () => {
    const { store, pass, schedules, deps } = await setUp();
    await damageRow(store, 'monthly');
    await schedules.add(world.define('bonus', { label: 'bonus-{period}' }));
    world.setClock(ahead);
    await pass();
    await pass();
    expect(submitted()).toHaveLength(1);
    expect((await schedules.findOccurrence('bonus', '2027-03'))?.state).toBe('prepared');
    const told = world.lines.filter((line) => 'schedule' in line && line.schedule === 'monthly');
    expect(told).toEqual([{ schedule: 'monthly', code: 'store_damaged' }]);
    const { lines, exitCode } = await listSchedules(deps);
    expect([lines.length, exitCode]).toEqual([2, 1]);
    expect(lines[1]).toMatch(/"monthly" cannot be read.*schedule remove monthly/);
    await switchSchedule('monthly', 'removed', deps);
    expect((await schedules.list()).damaged).toEqual([]);
    await schedules.add(world.define('monthly'));
    expect((await schedules.list()).schedules).toHaveLength(2);
  });

  it('is not removed before what it has prepared is ended', async () => {
    const { store, deps, pass } = await setUp();
    world.setClock(ahead);
    await pass();
    await damageRow(store, 'monthly');
    await expect(switchSchedule('monthly', 'removed', deps)).rejects.toThrow('skip monthly');
    await skipOccurrence('monthly', '2027-03', deps);
    expect(await stateOfJob()).toBe('failed');
    await switchSchedule('monthly', 'removed', deps);
  });

  it('whose row is of another one, or whose zone is none, is damaged too', async () => {
    const { store, schedules } = await setUp();
    const monthly = await store.get(definitionScope, 'monthly');
    const row = { scope: definitionScope, fingerprint: 'x', state: 'active', nowMs: 1 };
    const payload = monthly?.payload ?? '';
    await store.claim({ ...row, key: 'twin', payload });
    const nowhere = payload.replace('Europe/Berlin', 'Nowhere').replace('monthly', 'nowhere');
    await store.claim({ ...row, key: 'nowhere', payload: nowhere });
    expect((await schedules.list()).damaged).toEqual(['nowhere', 'twin']);
  });
});

describe('another token under the symbol', () => {
  it.each([{ decimals: 18 }, { tokenAddress: `0x${'33'.repeat(20)}` }])(
    '%j: nothing is prepared',
    async (change) => {
      const { pass, march } = await setUp();
      Object.assign(world.agent.state.token, change);
      world.setClock(ahead);
      await pass();
      expect(await march()).toMatchObject({
        state: 'due',
        cause: { code: 'configuration_changed' },
      });
      expect(submitted()).toEqual([]);
    },
  );

  it('while it is sent: the rest is not sent', async () => {
    const { pass, march } = await setUp();
    world.setClock(ahead);
    world.agent.state.onSubmit = () => {
      throw new Error('killed');
    };
    await pass();
    world.agent.state.onSubmit = () => undefined;
    world.agent.state.token.decimals = 18;
    world.setClock(later);
    await pass();
    expect(await march()).toMatchObject({
      state: 'prepared',
      cause: { code: 'configuration_changed' },
    });
    expect(submitted()).toEqual([]);
  });
});

describe('a schedule', () => {
  it('that was removed while it prepared pays nothing', async () => {
    const { pass, march, schedules } = await setUp();
    world.setClock(ahead);
    await pass();
    await schedules.switch('monthly', 'removed');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'removed' } });
    expect(await stateOfJob()).toBe('failed');
  });

  it('that is removed during a pass prepares nothing in it', async () => {
    const { deps, march, schedules } = await setUp();
    world.setClock(ahead);
    const removing = {
      ...schedules,
      lease: async (...args: Parameters<typeof schedules.lease>) => {
        await schedules.switch('monthly', 'removed');
        return await schedules.lease(...args);
      },
    };
    await createSchedulePass({ ...deps, schedules: removing })();
    expect((await march())?.state).toBe('due');
    expect(submitted()).toEqual([]);
  });

  it('that is added again with other orders prepares by these what was due', async () => {
    const { pass, deps, march, schedules } = await setUp();
    world.writeRoster('right.csv', '7');
    await schedules.add(
      world.define('other', { roster: join(world.home, 'wrong.csv'), label: 'wrong-{period}' }),
    );
    const other = async () => await schedules.findOccurrence('other', '2027-03');
    world.setClock(ahead);
    await pass();
    expect((await other())?.state).toBe('due');
    await switchSchedule('other', 'removed', deps);
    world.setClock(later);
    await pass();
    expect((await other())?.state).toBe('due');
    await schedules.add(
      world.define('other', { roster: join(world.home, 'right.csv'), label: 'right-{period}' }),
    );
    await pass();
    await pass();
    expect(await other()).toMatchObject({ state: 'prepared', plan: { label: 'right-2027-03' } });
    expect((await march())?.state).toBe('prepared');
    expect(submitted().map((key) => key.slice(0, 5))).toEqual(['salar', 'right']);
  });

  it('that was removed skips at the deadline what was due', async () => {
    const { pass, deps, march, schedules } = await setUp();
    await schedules.notice(
      planOccurrence(world.define('monthly'), {
        ...{ period: '2027-03', date: '2027-03-31', payAtMs: Date.parse('2027-03-31T07:00:00Z') },
      }),
    );
    await switchSchedule('monthly', 'removed', deps);
    world.setClock('2027-03-30T07:00:00Z');
    await pass();
    expect(await march()).toMatchObject({ state: 'skipped', cause: { code: 'removed' } });
  });
});

it.each(['next', '2027-3', '2027-13', '9999-12-31', '2027-02'])(
  '%s is no period of a monthly schedule',
  async (period) => {
    const { deps } = await setUp();
    await expect(skipOccurrence('monthly', period, deps)).rejects.toThrow('no period');
  },
);
