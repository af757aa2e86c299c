// An older copy of the job store, while the ledger and the agent's payments go on.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createScheduleWorld } from '../fixtures/schedule-world.ts';

it('a restored copy of the store pays nothing twice', async () => {
  const world = await createScheduleWorld('2027-03-01T00:00:00Z');
  onTestFinished(() => world.close());
  const before = await world.startAgent();
  await before.schedules.add(world.define('monthly'));
  world.writeRoster('payroll-2027-03.csv');
  await before.store.close();
  const path = join(world.home, 'jobs.sqlite');
  const copy = join(world.home, 'copy.sqlite');
  copyFileSync(path, copy);
  const first = await world.startAgent();
  world.setClock('2027-03-28T08:00:00Z');
  await first.pass();
  const [key = ''] = world.agent.state.submitted;
  world.agent.pay(key);
  await first.pass();
  await first.store.close();
  for (const [at, state] of [
    ['2027-03-28T08:00:00Z', 'due'],
    ['2027-03-31T07:00:00Z', 'skipped'],
  ] as const) {
    copyFileSync(copy, path);
    const restored = await world.startAgent();
    world.setClock(at);
    await restored.pass();
    expect((await restored.schedules.findOccurrence('monthly', '2027-03'))?.state).toBe(state);
    await restored.store.close();
  }
  expect(world.agent.state.submitted).toEqual([key]);
});
