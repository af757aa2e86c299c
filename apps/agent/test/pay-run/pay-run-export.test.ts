// `pay-runs export`: one line for each payee, with what became of the payment.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTokenUnits, PoolError } from '@pool/core';
import { listJobs, type Payer, parseRoster, rosterTemplate, showJob } from '@pool/pay-run';
import { createFakeHolder } from '@pool/testkit';
import { expect, it } from 'vitest';
import { dropHeld } from '../../../../packages/pay-run/src/commands/drop.ts';
import { exportLines } from '../../../../packages/pay-run/src/commands/export.ts';
import { createWorld, name, openCommands, unit } from './invited-world.ts';

const head =
  'reference,name,wallet,amount,base_units,token,state,reason,memo,commitment,pay_run,job_key,chain,tx_hash,time_utc';
const commitment = `0x${'00'.repeat(32)}`;
const time = '2026-11-28T10:40:00Z';

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
  expect(await exportLines('2026-11', payer, { out: path }, output)).toBe(5);
  expect(printed()).toBe(`${path}: 5 line(s)`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [first, second] = world.state.submitted;
  const tx = `0x${'5c'.repeat(32)}`;
  const [zero, one] = world.wallets.map(({ address }) => address);
  const lines = readFileSync(path, 'utf8').split('\r\n');
  const paid = (key: string | undefined) =>
    `,USDC,paid,,,${commitment},2026-11,${key},anvil,${tx},${time}`;
  const droppedAt = new Date(world.state.nowMs).toISOString().replace('.000Z', 'Z');
  expect(lines[0]).toBe(head);
  expect(new Set(lines.slice(1))).toEqual(
    new Set([
      `2026-11/1.2,,${world.entries[0]?.recipientAddress},0.001,1000${paid(first)}`,
      `2026-11/1.1,Name 0,${zero},0.002,2000${paid(first)}`,
      `2026-11#2/1.1,Name 1,${one},0.002001,2001${paid(second)}`,
      ',Name 2,,0.002002,2002,USDC,held back,,,,2026-11,,anvil,,',
      `,Name 3,,0.002003,2003,USDC,dropped,,,,2026-11,,anvil,,${droppedAt}`,
      '',
    ]),
  );
  const again = exportLines('2026-11', payer, { out: path }, output);
  await expect(again).rejects.toMatchObject({ code: 'file_not_written' });
  expect(readFileSync(path, 'utf8').split('\r\n')).toEqual(lines);
});

it.each(['=1+1', '+1', '-1', '@x', '\t=1'])(
  'makes text of a name that a spreadsheet would execute: %j',
  async (label) => {
    const { payer, output, printed } = await openCommands(await createPaid());
    const find: Payer['invitations']['find'] = (person) => [{ person, label }];
    await exportLines(
      '2026-11',
      { ...payer, invitations: { ...payer.invitations, find } },
      {},
      output,
    );
    expect(printed().split('\n')[4]).toMatch(/^[^,]*,"?'[\t=+@-]/);
  },
);

it('lists the people of a part that failed, and without the job store names the part', async () => {
  const world = createWorld([], 3);
  world.state.verdict = (job) => (job === 1 ? 'completed' : 'failed');
  await world.split();
  const { payer, output, printed } = await openCommands(world);
  expect(await exportLines('2026-11', payer, {}, output)).toBe(5);
  expect(printed()).toContain(',0.001,1000,USDC,failed,prover_failed: why,');
  expect(printed().split('\r\n')).toHaveLength(4);

  const notes: string[] = [];
  const terminal = { isTty: false, write: (text: string) => void notes.push(text) };
  const ledger = { ...payer.ledger, jobs: { url: 'memory:' } };
  expect(await exportLines('2026-11', { ...payer, ledger }, {}, { ...output, terminal })).toBe(5);
  expect(printed().split('\r\n')).toHaveLength(3);
  expect(notes.join('')).toContain('lacks the people of part 2 of 2 (failed)');
});

/** Two people are paid, one is not enrolled; the roster has further columns. */
async function createSkipping() {
  const world = createWorld([], 2);
  const stranger = createFakeHolder(77).address;
  const entries = [...world.entries, { recipientAddress: stranger, amount: '5' }];
  await world.split({ entries, unregistered: 'skip' });
  const commands = await openCommands(world);
  const path = join(commands.home, 'sent.csv');
  const write = (change: (text: string) => string = (text) => text): void => {
    const rows = entries.map(
      ({ recipientAddress, amount }, row) =>
        `${recipientAddress};${formatTokenUnits(BigInt(amount), 6)};=K${row};Ann ${row}`,
    );
    writeFileSync(path, change(['Address;Amount;Cost-Centre;Name', ...rows].join('\n')));
  };
  write();
  return { ...commands, stranger, path, write };
}

it('takes names, further columns and amounts of skipped people from the roster as it was sent', async () => {
  const { payer, output, printed, stranger, path, write } = await createSkipping();
  expect(await exportLines('2026-11', payer, {}, output)).toBe(5);
  expect(printed()).toContain(`,,${stranger},,,USDC,skipped,`);

  expect(await exportLines('2026-11', payer, { roster: path, fiat: 'EUR=500' }, output)).toBe(5);
  const lines = printed().split('\r\n');
  expect(lines[0]).toMatch(/,time_utc,Cost-Centre$/);
  const skipped = `Ann 2,${stranger},0.000005,5,USDC,0.00,EUR,500,skipped,`;
  expect(lines.find((line) => line.includes(skipped))).toMatch(/,anvil,,,'=K2$/);
  expect(lines.find((line) => line.includes('Ann 0'))).toMatch(
    /,0.001,1000,USDC,0.50,EUR,500,paid,/,
  );

  await exportLines('2026-11', payer, { roster: path, format: 'json' }, output);
  const found = JSON.parse(printed()).lines.find(
    ({ name: who }: { name: string }) => who === 'Ann 2',
  );
  expect(found).toMatchObject({ base_units: '5', state: 'skipped', 'Cost-Centre': '=K2' });

  write((text) => text.replace('0.000005', '0.000006'));
  await expect(exportLines('2026-11', payer, { roster: path }, output)).rejects.toMatchObject({
    code: 'invalid_roster',
    message: expect.stringContaining('not the roster that was sent under 2026-11'),
  });
});

it('exports what a filter leaves of the job store, by the time of the block', async () => {
  const { payer, output, printed } = await createSkipping();
  const count = async (filter: object): Promise<number> => {
    await exportLines(undefined, payer, filter, output);
    return printed().split('\r\n').length - 1;
  };
  expect(await count({})).toBe(3);
  expect(await count({ state: 'failed' })).toBe(0);
  expect(await count({ payRun: '2026-11', token: 'USDC', chain: 'anvil' })).toBe(3);
  expect(await count({ payRun: '2026-12' })).toBe(0);
  // The third was not paid, and was submitted on the 21st.
  expect(await count({ from: '2026-11-28T00:00:00Z', to: '2026-12-01T00:00:00Z' })).toBe(2);
  await expect(exportLines(undefined, payer, { roster: 'x' }, output)).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

it('lists and shows jobs from the store', async () => {
  const { payer, output, printed } = await createSkipping();
  await listJobs(payer, {}, output);
  const lines = printed().split('\n');
  expect(lines).toHaveLength(2);
  const line = lines.find((one) => one.includes('skipped')) ?? '';
  expect(line).toMatch(
    /^2026-11-21 09:00 UTC {2}paid on anvil; 2026-11, part \d of 2; 1 recipient\(s\), 1 skipped, 0\.00100\d USDC; key 2026-11-\dof2-[0-9a-f]{32}$/,
  );
  const key = line.split('key ')[1] ?? '';
  await listJobs(payer, { state: 'running' }, output);
  expect(printed()).toBe('no job passes this filter');
  await listJobs(payer, { json: true }, output);
  expect(JSON.parse(printed()).jobs).toContainEqual(
    expect.objectContaining({ key, state: 'paid', payRun: '2026-11', recipients: 1, skipped: 1 }),
  );

  // The newest first, page by page.
  const [newest = '', older = ''] = lines.map((one) => one.split('key ')[1] ?? '');
  await listJobs(payer, { limit: 1 }, output);
  expect(printed()).toMatch(
    new RegExp(`key ${newest}\nthere are older ones: .* --after ${newest}`),
  );
  await listJobs(payer, { limit: 1, json: true }, output);
  expect(JSON.parse(printed())).toMatchObject({ jobs: [{ key: newest }], next: newest });
  await listJobs(payer, { limit: 1, after: newest, json: true }, output);
  expect(JSON.parse(printed())).toEqual({ jobs: [expect.objectContaining({ key: older })] });
  await listJobs(payer, { limit: 1, state: 'paid', chain: 'anvil', token: 'USDC' }, output);
  expect(printed()).toContain(lines.find((one) => one.includes('paid on anvil')));
  await expect(listJobs(payer, { after: 'other' }, output)).rejects.toMatchObject({
    code: 'not_found',
  });

  await showJob(key, payer, {}, output);
  expect(printed()).toMatch(/^transaction: 0x(5c){32}/m);
  const notes: string[] = [];
  const terminal = { isTty: false, write: (text: string) => void notes.push(text) };
  const client = {
    trace: () => Promise.reject(new PoolError('agent_unreachable', 'no agent answers')),
  };
  await showJob(key, { ...payer, openAgent: () => client }, {}, { ...output, terminal });
  expect(notes.join('')).toContain('the agent does not answer');
  await expect(showJob('other', payer, {}, output)).rejects.toMatchObject({ code: 'not_found' });
});

it('prints a template whose header the parser reads', () => {
  const [holder] = [createFakeHolder(1)];
  const text = `${rosterTemplate}\n"Ann, B.",${holder.address},1.5,May\n`;
  const roster = parseRoster(text, { ...unit, format: 'decimal' });
  expect(roster).toMatchObject({ kind: 'roster', entries: [{ amount: '1500000', memo: 'May' }] });
});
