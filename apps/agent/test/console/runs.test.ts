// The pages about pay runs that were sent.
import { PoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { openTestConsole } from './console-world.ts';

it('lists the pay runs with what became of them, and filters them', async () => {
  const console = openTestConsole({ people: 2 });
  const { world } = console;
  await world.split({ payRun: '2026-10' });
  world.state.verdict = () => 'failed';
  await world.split({ payRun: '2026-11' });
  const { read } = await console.login();
  const all = await read('');
  expect(all).toMatch(/2026-10<\/a>[\s\S]*<td>paid[\s\S]*>2<[\s\S]*0\.002001 USDC/);
  expect(all).toMatch(/2026-11<\/a>[\s\S]*needs attention: failed/);
  const paid = await read('?standing=paid');
  expect([paid.includes('2026-10</a>'), paid.includes('2026-11</a>')]).toEqual([true, false]);
  const found = await read('?text=-11');
  expect([found.includes('2026-10</a>'), found.includes('2026-11</a>')]).toEqual([false, true]);
});

it('shows a pay run with each payee, its reason and its table', async () => {
  const console = openTestConsole({ people: 2 });
  const { world } = console;
  await world.split();
  const { read, get } = await console.login();
  const page = await read('runs/anvil/USDC/2026-11');
  for (const { recipientAddress } of world.entries) {
    expect(page).toContain(recipientAddress);
  }
  expect(page).toContain('0.001001 USDC');
  expect(page).not.toContain('data-live');
  expect(page).toMatch(/2026-11\/1\.1<[\s\S]*0x(?:5c){32}</);
  const table = await get('runs/anvil/USDC/2026-11/payees.csv');
  expect(table.headers.get('content-disposition')).toBe(
    'attachment; filename="2026-11-payees.csv"',
  );
  expect((await table.text()).trimEnd().split('\r\n')).toHaveLength(3);
  expect((await get('runs/anvil/USDC/2026-12')).status).toBe(404);
  world.state.verdict = () => 'failed';
  await world.split({ payRun: 'second' });
  expect(await read('runs/anvil/USDC/second')).toContain(
    '<p>why</p><p class="faint">prover_failed',
  );
});

it('updates the page of a payment that runs', async () => {
  const console = openTestConsole({ people: 2 });
  const { world } = console;
  world.state.verdict = () => 'open';
  const split = world.split();
  const { read } = await console.login();
  await expect.poll(() => read('runs/anvil/USDC/2026-11')).toContain('data-live role="status"');
  world.state.interrupt.abort();
  await split;
});

it('shows what was sent when the agent does not answer, and says so', async () => {
  const console = openTestConsole({ people: 2 });
  await console.world.split();
  const { read } = await console.login();
  console.outage.reason = new PoolError('agent_unreachable', 'nobody answers');
  for (const page of [await read(''), await read('runs/anvil/USDC/2026-11')]) {
    expect(page).toContain('needs attention: unknown');
    expect(page).toContain('because the agent does not answer: nobody answers');
  }
});

it('shows no more than the name of an error that nobody expected', async () => {
  const console = openTestConsole();
  const { get } = await console.login();
  console.outage.reason = new TypeError('<b>secret</b>') as never;
  const answer = await get('');
  expect([answer.status, await answer.text()]).toEqual([
    500,
    expect.not.stringContaining('secret'),
  ]);
  expect(console.world.logged.join()).not.toContain('secret');
});
