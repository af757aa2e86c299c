// The page of schedules, over a real job store in which a fake agent prepares and pays.
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { skipOccurrence, switchSchedule } from '@pool/pay-run';
import { expect, it, onTestFinished } from 'vitest';
import {
  createScheduleWorld,
  damageRow,
} from '../../../../packages/pay-run/src/fixtures/schedule-world.ts';
import { openTestConsole } from './console-world.ts';

async function open() {
  const world = await createScheduleWorld('2027-03-01T00:00:00Z');
  onTestFinished(() => world.close());
  const { schedules, pass, deps } = await world.startAgent();
  await schedules.add(world.define('monthly', { roster: join(world.home, '<b>-{period}.csv') }));
  const { jobs, clock } = world;
  const nowMs = (): number => clock.nowMs;
  const console = openTestConsole({ people: 2, jobs, nowMs });
  return { world, schedules, pass, deps, nowMs, console, ...(await console.login()) };
}

it('explains how to add one, and is in the navigation', async () => {
  const { read, place } = await openTestConsole().login();
  expect(await read('')).toContain(`<a href="${place}schedules">Schedules</a>`);
  expect(await read('schedules')).toMatch(
    /There is no schedule[\s\S]*disburse-agent schedule add monthly/,
  );
});

it('shows rule, roster and state, and the next three payments with all their times', async () => {
  const { schedules, nowMs, read } = await open();
  const page = await read('schedules');
  for (const text of [
    ...['<dd>active</dd>', '<dd>last working day</dd>', '<dd>09:00 Europe/Berlin</dd>'],
    ...['/&lt;b&gt;-{period}.csv</dd>', 'salaries-{period}</dd>', '<dd>USDC on anvil</dd>'],
    ...['Nothing was prepared or decided yet', 'schedule skip &lt;name&gt; &lt;period&gt;'],
  ]) {
    expect(page).toContain(text);
  }
  const times = ['03-28 09:00', '03-30 09:00', '03-31 09:00', '03-31 21:00'];
  const cells = times.map((time) => `<td>2027-${time} Europe/Berlin \\([^<]+Z\\)</td>`);
  expect(page).toMatch(new RegExp(`2027-03</th>\\s*<td>ahead</td>\\s*${cells.join('')}`));
  expect(page.match(/<td>ahead</g)).toHaveLength(3);
  const place = { schedules, policy: undefined, nowMs };
  await switchSchedule('monthly', 'paused', place);
  expect(await read('schedules')).toContain('<dd>paused: nothing more is prepared');
  await switchSchedule('monthly', 'removed', place);
  expect(await read('schedules')).toContain('There is no schedule');
});

it('shows what became of each occurrence and why, with a link to the pay run', async () => {
  const { world, pass, console, place, get, read } = await open();
  world.writeRoster('<b>-2027-03.csv');
  world.setClock('2027-03-28T08:00:00Z');
  await pass();
  const path = 'runs/anvil/USDC/salaries-2027-03';
  const link = `<a href="${place}${path}">salaries-2027-03</a>`;
  const prepared = await read('schedules');
  // Among the next payments, and below.
  expect(prepared.match(/<td>prepared<\/td>/g)).toHaveLength(2);
  expect(prepared).toContain(link);
  await console.world.split({ payRun: 'salaries-2027-03' });
  expect((await get(path)).status).toBe(200);

  world.agent.pay(world.agent.state.submitted[0] ?? '');
  await pass();
  // The roster of April is missing until its deadline has passed.
  for (const at of ['2027-04-28T08:00:00Z', '2027-04-29T08:00:00Z']) {
    world.setClock(at);
    await pass();
  }
  const page = await read('schedules');
  const [, past = ''] = page.split('What became of monthly, the newest first</caption>');
  expect(past).toMatch(
    /2027-04<\/th>\s*<td>skipped<\/td>\s*<td>[^<]*&lt;b&gt;-2027-04\.csv[\s\S]*<td>salaries-2027-04<\/td>[\s\S]*2027-03<\/th>\s*<td>paid<\/td>\s*<td><\/td>/,
  );
  expect(past).toContain(link);
});

it('names a schedule and a payment that cannot be read, beside the others', async () => {
  const { world, schedules, pass, read } = await open();
  const { store } = await world.startAgent();
  await schedules.add(world.define('bonus', { label: 'bonus-{period}' }));
  world.setClock('2027-03-28T08:00:00Z');
  await pass();
  await damageRow(store, 'monthly 2027-03');
  await damageRow(store, 'bonus');
  const page = await read('schedules');
  expect(page).toMatch(/role="alert"><p>the schedule &quot;bonus&quot; cannot be read/);
  expect(page).toMatch(/role="alert"><p>the payment &quot;monthly 2027-03&quot; of a schedule/);
  expect(page).toMatch(/2027-03<\/th>\s*<td>damaged<\/td>/);
});

it('says that a prepared payment is being withdrawn while the agent cannot end it', async () => {
  const { world, pass, deps, read } = await open();
  world.writeRoster('<b>-2027-03.csv');
  world.setClock('2027-03-28T08:00:00Z');
  await pass();
  world.agent.state.onCancel = () => {
    throw new PoolError('agent_unreachable', 'away');
  };
  await skipOccurrence('monthly', '2027-03', deps);
  expect(await read('schedules')).toMatch(
    /<td>prepared, is being withdrawn<\/td>\s*<td>a person skipped it <span class="faint">skipped</,
  );
});
