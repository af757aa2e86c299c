// `pay-runs export`: one line for each payee, with what became of the payment.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Payer } from '@pool/pay-run';
import { createFakeHolder } from '@pool/testkit';
import { expect, it } from 'vitest';
import { dropHeld } from '../../../../packages/pay-run/src/commands/drop.ts';
import { exportPayRun } from '../../../../packages/pay-run/src/commands/export.ts';
import { createWorld, name, openCommands } from './invited-world.ts';

const head = 'name,wallet,amount,base_units,token,state,job_key,tx_hash,time_utc';

/** One with a wallet and one invited were paid at once, one later; one is in a payment that failed, and one was dropped. */
async function createPaid() {
  const world = createWorld([true, false, false, false], 1);
  await world.first();
  world.enrol(1);
  await world.resume();
  const record = (await world.ledger().read(name))!;
  await dropHeld({ ...name, record }, '6', { find: () => [] }, world.deps());
  world.enrol(2);
  world.state.verdict = () => 'failed';
  await world.resume();
  return world;
}

it('writes each payee once, with state, key, transaction and time, into a new file of its owner', async () => {
  const world = await createPaid();
  const { home, payer, output, printed } = await openCommands(world);
  const path = join(home, 'november.csv');
  expect(await exportPayRun('2026-11', payer, { out: path }, output)).toBe(5);
  expect(printed()).toBe(`${path}: 5 line(s)`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [first, second] = world.state.submitted;
  const tx = `0x${'5c'.repeat(32)}`;
  const time = new Date(world.state.nowMs).toISOString();
  const [zero, one] = world.wallets.map(({ address }) => address);
  const lines = readFileSync(path, 'utf8').split('\r\n');
  expect(lines[0]).toBe(head);
  expect(new Set(lines.slice(1))).toEqual(
    new Set([
      `,${world.entries[0]?.recipientAddress},0.001,1000,USDC,paid,${first},${tx},${time}`,
      `Name 0,${zero},0.002,2000,USDC,paid,${first},${tx},${time}`,
      `Name 1,${one},0.002001,2001,USDC,paid,${second},${tx},${time}`,
      'Name 2,,0.002002,2002,USDC,held back,,,',
      `Name 3,,0.002003,2003,USDC,dropped,,,${time}`,
      '',
    ]),
  );
  const again = exportPayRun('2026-11', payer, { out: path }, output);
  await expect(again).rejects.toMatchObject({ code: 'file_not_written' });
  expect(readFileSync(path, 'utf8').split('\r\n')).toEqual(lines);
});

it.each(['=1+1', '+1', '-1', '@x', '\t=1'])(
  'makes text of a name that a spreadsheet would execute: %j',
  async (label) => {
    const { payer, output, printed } = await openCommands(await createPaid());
    const find: Payer['invitations']['find'] = (person) => [{ person, label }];
    await exportPayRun(
      '2026-11',
      { ...payer, invitations: { ...payer.invitations, find } },
      {},
      output,
    );
    expect(printed().split('\n')[4]).toMatch(/^"?'[\t=+@-]/);
  },
);

it('names the parts whose people it does not have, and the people whom the first payment left out', async () => {
  const world = createWorld([], 3);
  world.state.verdict = (job) => (job === 1 ? 'completed' : 'failed');
  await world.split();
  const notes: string[] = [];
  const { payer, output, printed } = await openCommands(world);
  const terminal = { isTty: false, write: (text: string) => void notes.push(text) };
  expect(await exportPayRun('2026-11', payer, {}, { ...output, terminal })).toBe(5);
  expect(printed().split('\r\n')).toHaveLength(3);
  expect(notes.join('')).toContain('lacks the people of part 2 of 2 (failed)');

  const other = createWorld([], 1);
  const stranger = createFakeHolder(77).address;
  const entries = [...other.entries, { recipientAddress: stranger, amount: '5' }];
  await other.split({ entries, unregistered: 'skip' });
  const skipping = await openCommands(other);
  expect(await exportPayRun('2026-11', skipping.payer, {}, skipping.output)).toBe(5);
  expect(skipping.printed()).toContain(`\n,${stranger},,,USDC,skipped,2026-11-`);
});
