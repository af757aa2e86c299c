// A process that dies after any of its calls: to the stores, the ledger or the agent. The next one pays once, or withdraws all.
import { createPaymentWindows } from '@pool/operations';
import { describe, expect, it } from 'vitest';
import { createPolicy, createScheduleWorld } from '../fixtures/schedule-world.ts';
import { createSchedulePass, type ScheduleWorkerDeps } from './schedule-worker.ts';

type World = Awaited<ReturnType<typeof createScheduleWorld>>;

type Agent = Awaited<ReturnType<World['startAgent']>>;

const minuteMs = 60_000;

/** Runs one pass of a process that dies after a call, and does nothing more then. @returns whether it died */
async function passUntil(deps: ScheduleWorkerDeps, lastCall: number): Promise<boolean> {
  let calls = 0;
  let isDead = false;
  function mortal<T extends object>(part: T): T {
    return new Proxy(part, {
      get(target, name, receiver) {
        const found: unknown = Reflect.get(target, name, receiver);
        return typeof found !== 'function'
          ? found
          : async (...args: readonly unknown[]) => {
              calls += 1;
              assertAlive();
              const result: unknown = await Reflect.apply(found, target, args);
              isDead ||= calls >= lastCall;
              assertAlive();
              return result;
            };
      },
    });
  }
  function assertAlive(): void {
    if (isDead) {
      throw new Error('the process is dead');
    }
  }
  await createSchedulePass({
    ...deps,
    client: mortal(deps.client),
    schedules: mortal(deps.schedules),
    windows: mortal(deps.windows),
    openLedger: async () => mortal(await deps.openLedger()),
  })();
  return isDead;
}

async function setUp(): Promise<{ world: World; agent: Agent }> {
  const world = await createScheduleWorld('2027-03-01T00:00:00Z', { url: 'memory:' });
  const agent = await world.startAgent(createPolicy(), 1);
  await agent.schedules.add(world.define('monthly'));
  world.writeRoster('payroll-2027-03.csv');
  world.setClock('2027-03-28T08:00:00Z');
  return { world, agent };
}

/** The next process, after the lease of the dead one. */
async function goOn(world: World, { deps }: Agent): Promise<void> {
  const pass = createSchedulePass(deps);
  for (let round = 0; round < 3; round += 1) {
    world.clock.nowMs += 6 * minuteMs;
    await pass();
  }
}

describe('a process that dies', () => {
  it('while it prepares leads to one payment of two parts', async () => {
    let died = true;
    let call = 0;
    for (; died; call += 1) {
      const { world, agent } = await setUp();
      died = await passUntil(agent.deps, call);
      await goOn(world, agent);
      const { submitted } = world.agent.state;
      expect([call, submitted.length, new Set(submitted).size]).toEqual([call, 2, 2]);
      for (const key of submitted) {
        expect(await createPaymentWindows(agent.store).find(key)).toBeDefined();
        world.agent.pay(key);
      }
      await goOn(world, agent);
      const march = await agent.schedules.findOccurrence('monthly', '2027-03');
      expect([call, march?.state, submitted.length]).toEqual([call, 'paid', 2]);
      await world.close();
    }
    // Every call of the pass was the last one once.
    expect(call).toBeGreaterThan(20);
  });

  it('while it withdraws leads to no payment', async () => {
    let died = true;
    let call = 0;
    for (; died; call += 1) {
      const { world, agent } = await setUp();
      await agent.pass();
      world.writeRoster('payroll-2027-03.csv', '1501');
      died = await passUntil(agent.deps, call);
      const begun = await agent.schedules.findOccurrence('monthly', '2027-03');
      // What was decided before the process died counts, although the reason for it is gone.
      world.writeRoster('payroll-2027-03.csv', begun?.withdrawal === undefined ? '1501' : '1500');
      await goOn(world, agent);
      const march = await agent.schedules.findOccurrence('monthly', '2027-03');
      expect([call, march?.state, march?.cause?.code]).toEqual([call, 'skipped', 'roster_changed']);
      for (const key of world.agent.state.submitted) {
        expect(await createPaymentWindows(agent.store).find(key)).toMatchObject({
          isWithdrawn: true,
        });
        expect(await world.agent.client.job(key)).toMatchObject({ state: 'failed' });
      }
      await world.close();
    }
    expect(call).toBeGreaterThan(8);
  });
});
