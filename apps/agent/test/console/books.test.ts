// What a pay run hands to the books and to its payees: tables with the further columns of the roster, and payslips.
import { expect, it } from 'vitest';
import { openTestConsole } from './console-world.ts';

async function open() {
  const opened: string[] = [];
  const console = openTestConsole({
    people: 2,
    openDisclosures: async (paid) => ({
      payer: `0x${'aa'.repeat(20)}`,
      disclose: async ({ reference = '' }) => {
        opened.push(reference);
        return '{}';
      },
      close: () => void opened.push(`closed ${paid.length}`),
    }),
  });
  const browser = await console.login();
  const { entries } = console.world;
  const rows = entries.map(
    ({ recipientAddress, amount }, index) => `${index},${amount},${recipientAddress},Name ${index}`,
  );
  const text = ['office,amount,address,name', ...rows].join('\n');
  const fields = { payRun: '2026-11', target: 'anvil USDC', text, format: 'integer' };
  return { console, browser, entries, opened, text, fields };
}

const run = 'runs/anvil/USDC/2026-11';

async function post(
  { console, browser }: Awaited<ReturnType<typeof open>>,
  fields: Record<string, string | File>,
): Promise<Response> {
  const body = new FormData();
  body.set('form', /name="form" value="([^"]+)"/.exec(await browser.read(''))?.[1] ?? '');
  for (const [name, value] of Object.entries(fields)) {
    body.set(name, value);
  }
  const headers = { origin: 'http://127.0.0.1:8787', cookie: browser.cookie };
  return await console.send(`${browser.place}${run}/files`, { method: 'POST', body, headers });
}

it('has the further columns of a roster that is given again, and refuses another one', async () => {
  const world = await open();
  await world.console.world.split();
  const roster = (text: string) => new File([text], 'november.csv');
  const table = await post(world, { as: 'csv', roster: roster(world.text) });
  expect(table.headers.get('content-disposition')).toContain('2026-11-payees.csv');
  expect(await table.text()).toMatch(/Name 1[\s\S]*1$/m);
  const { lines } = (await (
    await post(world, { as: 'json', roster: roster(world.text) })
  ).json()) as {
    readonly lines: readonly object[];
  };
  expect(lines).toContainEqual(
    expect.objectContaining({ name: 'Name 1', office: '1', amount: '0.001001' }),
  );
  const other = await post(world, { as: 'csv', roster: roster(world.text.replace('1001', '9')) });
  expect([other.status, await other.text()]).toEqual([
    400,
    expect.stringContaining('not the roster that was sent'),
  ]);
  expect(await (await post(world, { as: 'csv' })).text()).not.toContain('Name 1');
  expect((await post(world, { as: 'x' })).status).toBe(400);
});

it('gives each payee a payslip, and all of them as one file', async () => {
  const world = await open();
  const { browser, opened } = world;
  await world.console.world.split();
  const page = await browser.read(run);
  const [, path = ''] = /href="[^"]*(\/payslips\/0x[0-9a-f]{64})"/.exec(page) ?? [];
  const slip = await browser.get(`${run}${path}`);
  expect(slip.headers.get('content-type')).toBe('application/pdf');
  expect(Buffer.from(await slip.arrayBuffer()).toString('latin1')).toMatch(/^%PDF-/);
  expect(opened).toEqual(['2026-11/1.1', 'closed 1']);
  const zip = Buffer.from(await (await post(world, { as: 'payslips' })).arrayBuffer());
  // The entries of the archive are stored as they are: two payslips and the summary.
  expect(zip.toString('latin1').match(/%PDF-/g)).toHaveLength(3);
  expect(opened.at(-1)).toBe('closed 2');
  const none = await browser.get(`${run}/payslips/0x${'11'.repeat(32)}`);
  expect(none.status).toBe(404);
});

it('has no payslip of a payment that failed', async () => {
  const world = await open();
  world.console.world.state.verdict = () => 'failed';
  await world.console.world.split();
  expect(await world.browser.read(run)).not.toContain('ZIP of PDFs');
  expect((await post(world, { as: 'payslips' })).status).toBe(404);
});
