// From a file to a payment: defects, control totals, differences, and a payment that happens once.
import { createFakeHolder } from '@pool/testkit';
import { expect, it } from 'vitest';
import { openTestConsole } from './console-world.ts';

type World = ReturnType<typeof openTestConsole>;
type Browser = Awaited<ReturnType<World['login']>>;

const [anna, ben] = [1, 2].map((index) => createFakeHolder(index).address);

/** In token units, in a format of spreadsheets, with further columns. */
function roster(amounts: readonly string[] = ['1.000,50', '2,25']): string {
  return [
    '\ufeffname;amount;memo;address',
    `Anna;${amounts[0]};May;${anna}`,
    '',
    `Ben;${amounts[1]};;${ben}`,
  ].join('\r\n');
}

const fields = {
  ...{ payRun: '2026-11', target: 'anvil USDC', text: roster(), format: 'point-comma' },
  ...{ count: '2', sum: '1.002,75' },
};

/** @returns the path of the draft below the session */
async function give(browser: Browser, changes: Record<string, string> = {}): Promise<string> {
  const answer = await browser.submit('drafts', { ...fields, ...changes });
  expect([answer.status, await answer.text()]).toEqual([303, '']);
  return (answer.headers.get('location') ?? '').slice(browser.place.length);
}

async function open(people = 2) {
  const console = openTestConsole({ people });
  return { ...console, browser: await console.login() };
}

it('pays a pasted roster and shows its payees', async () => {
  const { world, browser } = await open();
  const draft = await give(browser);
  const review = await browser.read(draft);
  expect(review).toContain('1002.75 USDC (control total: 1002.75 USDC)');
  expect(review).toContain('Columns that a payment does not read: name. Downloads');
  expect(review).toContain('Pay 2 people');
  const paid = await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect(paid.headers.get('location')).toBe(`${browser.place}runs/anvil/USDC/2026-11`);
  const page = await browser.read('runs/anvil/USDC/2026-11');
  expect(page).toContain('1000.5 USDC');
  expect(world.state.paid).toEqual(
    new Map([
      [anna, [1_000_500_000n]],
      [ben, [2_250_000n]],
    ]),
  );
});

it('pays once, however often and at once the button is pressed', async () => {
  const { world, browser } = await open();
  const draft = await give(browser);
  // Each answer leads to the page of the payment, which the agent has by then.
  const press = async () => {
    const { status } = await browser.submit(`${draft}/pay`, { skipped: '0' });
    return [status, (await browser.get('runs/anvil/USDC/2026-11')).status];
  };
  const answers = await Promise.all([press(), press(), press()]);
  expect([...answers, await press()]).toEqual(Array(4).fill([303, 200]));
  // The same file again, under the same label, in another session.
  const again = await give(browser);
  expect(await browser.read(again)).toContain('All of it was sent before under this label');
  await browser.submit(`${again}/pay`, { skipped: '0' });
  expect(world.state.submitted).toHaveLength(1);
  expect(world.state.paid.get(anna ?? '')).toEqual([1_000_500_000n]);
});

it('takes a file', async () => {
  const { browser, send } = await open();
  const body = new FormData();
  const form = /name="form" value="([^"]+)"/.exec(await browser.read(''))?.[1] ?? '';
  for (const [name, value] of Object.entries({ ...fields, form, text: '' })) {
    body.set(name, value);
  }
  body.set('file', new File([roster()], 'november.csv'));
  const headers = { origin: 'http://127.0.0.1:8787', cookie: browser.cookie };
  const answer = await send(`${browser.place}drafts`, { method: 'POST', body, headers });
  expect(answer.status).toBe(303);
});

it('shows every defect by row and column, and gives the wrong rows as a table', async () => {
  const { world, browser } = await open();
  const stranger = createFakeHolder(9).address;
  const text = `${roster(['1,5x', '2,25'])}\r\n=Eve;1,00;;0x12\r\nFay;1,00;;${stranger}`;
  const draft = await give(browser, { text });
  const review = await browser.read(draft);
  expect(review).toMatch(/scope="row">2<\/th><td>amount<\/td>/);
  expect(review).toMatch(/scope="row">5<\/th><td>address<\/td>/);
  const advice = await browser.read(await give(browser, { text: roster(['1,000.50', '2,25']) }));
  expect(advice).toContain('written like 1.234,50; comma-point reads it as 1000.5 USDC<');
  // Not enrolled: the agent found it.
  expect(review).toMatch(/scope="row">6<\/th><td>address<\/td>/);
  expect(review).not.toContain('/pay"');
  const table = await (await browser.get(`${draft}/defects.csv`)).text();
  expect(table.split('\r\n')).toEqual([
    'line,problem,name,amount,memo,address',
    expect.stringMatching(/^2,"amount: .*",Anna,"1,5x",May,0x/),
    expect.stringMatching(/^5,.*,'=Eve,"1,00",,0x12$/),
    expect.stringMatching(/^6,.*,Fay,"1,00",,0x/),
    '',
  ]);
  const refused = await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('the roster has defects'),
  ]);
  expect(world.state.submitted).toEqual([]);
});

it.each([
  [{ count: '3' }, 'The control total is 3 people, but the file has 2'],
  [
    { sum: '1.002,76' },
    'The control total is 1002.76 USDC, but the amounts of the file are 1002.75',
  ],
])('pays nothing while the control totals differ: %j', async (changes, message) => {
  const { world, browser } = await open();
  const draft = await give(browser, changes);
  const review = await browser.read(draft);
  expect(review).toContain(message);
  expect(review).not.toContain('/pay"');
  expect((await browser.submit(`${draft}/pay`, { skipped: '0' })).status).toBe(400);
  expect(world.state.submitted).toEqual([]);
});

it.each([
  [{ sum: '1,002.75' }, 'the sum of all amounts'],
  [{ count: 'two' }, 'the number of people is a whole number'],
  [{ format: '' }, 'how amounts are written'],
  [{ target: 'mars USDC' }, 'choose a chain'],
  [{ text: '' }, 'give a file, or paste'],
  [{ payRun: '' }, 'the label is empty'],
])('refuses a form that does not say what is meant: %j', async (changes, message) => {
  const { browser } = await open();
  const answer = await browser.submit('drafts', { ...fields, ...changes });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
});

it('compares with the last pay run of its kind', async () => {
  const { browser } = await open(3);
  const carl = createFakeHolder(3).address;
  const first = await give(browser, { payRun: '2026-10' });
  await browser.submit(`${first}/pay`, { skipped: '0' });
  const text = `address,amount\n${anna},1050.00\n${carl},7\n`;
  const next = { text, format: 'plain', sum: '1057', payRun: '2026-11' };
  const draft = await give(browser, next);
  const ten = await browser.read(draft);
  expect(ten).toContain('Compared with 2026-10');
  expect(ten).toContain('1 new, 1 missing, 0 changed by more than 10 %');
  expect(ten).toMatch(
    /missing<\/td><td class="code">0x[0-9a-fA-F]+<\/td><td class="number">2.25 USDC/,
  );
  const four = await browser.read(`${draft}?percent=4,5`);
  expect(four).toContain('1 new, 1 missing, 1 changed by more than 4.5 %');
  expect(await browser.read(await give(browser, { payRun: 'bonus' }))).toContain(
    'nothing is compared',
  );
});

it('asks before the same roster is paid again, and warns of the same period', async () => {
  const { world, browser } = await open();
  const first = await give(browser);
  await browser.submit(`${first}/pay`, { skipped: '0' });
  world.state.nowMs = Date.now();
  const second = await give(browser, { payRun: 'salaries 2026-11' });
  const review = await browser.read(second);
  expect(review).toContain('the period 2026-11 has another pay run: 2026-11');
  expect(review).toContain('the same roster was sent under the label 2026-11');
  const refused = await browser.submit(`${second}/pay`, { skipped: '0' });
  expect(await refused.text()).toContain('you have not confirmed it');
  expect(world.state.submitted).toHaveLength(1);
  expect((await browser.submit(`${second}/pay`, { skipped: '0', again: 'yes' })).status).toBe(303);
  expect(world.state.submitted).toHaveLength(2);
});

it('refuses another roster under a label that was paid', async () => {
  const { world, browser } = await open();
  await browser.submit(`${await give(browser)}/pay`, { skipped: '0' });
  const draft = await give(browser, { text: roster(['1.000,50', '3']), sum: '1.003,5' });
  expect(await browser.read(draft)).toContain('this label was used for another roster');
  const refused = await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect([refused.status, world.state.submitted.length]).toEqual([409, 1]);
});

it('skips those whom the person has seen, and pays only them afterwards', async () => {
  const { world, browser } = await open(3);
  const late = createFakeHolder(9);
  const text = `${roster()}\r\nLate;7;;${late.address}`;
  const totals = { text, count: '3', sum: '1.009,75', skip: 'yes' };
  const draft = await give(browser, totals);
  const review = await browser.read(draft);
  expect(review).toContain('These 1 people are not paid');
  // The person has seen a page on which nobody is skipped.
  const refused = await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('other people would be skipped'),
  ]);
  await browser.submit(`${draft}/pay`, { skipped: '1' });
  const run = 'runs/anvil/USDC/2026-11';
  expect(await browser.read(run)).toContain('1 people, who were not paid');
  world.platform.enroll(late);
  const form = await browser.read(`${run}/skipped`);
  expect(form).toContain(`value="2026-11 skipped"`);
  expect(/<textarea[^>]*>([^<]*)</.exec(form)?.[1]?.split('\n')).toEqual([
    'name;amount;memo;address',
    `Late;7;;${late.address}`,
  ]);
});

it('says why nothing was sent now, and keeps the roster', async () => {
  const { world, browser } = await open();
  world.outages.push({ code: 'insufficient_balance', message: 'the funder has 1 USDC' } as never);
  const draft = await give(browser);
  expect(await browser.read(draft)).toContain('the funder has 1 USDC');
  const refused = await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect([refused.status, await refused.text()]).toEqual([
    503,
    expect.stringContaining('the funder has 1 USDC'),
  ]);
  world.outages.length = 0;
  expect((await browser.submit(`${draft}/pay`, { skipped: '0' })).status).toBe(303);
});

it('sends the parts of a large roster, and follows them after the tab was closed', async () => {
  const console = openTestConsole({ people: 5 });
  const { world } = console;
  const browser = await console.login();
  const text = ['address,amount', ...world.entries.map((one) => `${one.recipientAddress},2`)];
  const large = { text: text.join('\n'), count: '5', sum: '10', format: 'plain' };
  world.state.verdict = () => 'settling';
  const draft = await give(browser, large);
  expect(await browser.read(draft)).toContain('3, one after the other');
  await browser.submit(`${draft}/pay`, { skipped: '0' });
  await browser.submit('end');
  const other = await console.login();
  await expect.poll(() => world.state.settling.length).toBe(3);
  const run = 'runs/anvil/USDC/2026-11';
  expect(await other.read(run)).toContain('running: 0 of 3 parts paid');
  for (const end of world.state.settling) {
    await end('completed');
  }
  expect(await other.read(run)).toContain('paid: 3 of 3 parts paid');
  expect(world.state.paid.size).toBe(5);
});

it('sends failed parts again, and each attempt once', async () => {
  const console = openTestConsole({ people: 5 });
  const { world } = console;
  // The second of three parts, and its second attempt.
  world.state.verdict = (job) => (job === 2 || job === 3 ? 'failed' : 'completed');
  const text = [
    'address,amount',
    ...world.entries.map(({ recipientAddress }) => `${recipientAddress},1`),
  ].join('\n');
  const browser = await console.login();
  const draft = await give(browser, { text, format: 'plain', count: '5', sum: '5' });
  await browser.submit(`${draft}/pay`, { skipped: '0' });
  const readRun = () => browser.read('runs/anvil/USDC/2026-11');
  await expect.poll(readRun).toContain('Send again what has failed');
  const readForm = async () => {
    const page = await browser.read(draft);
    expect(page).toContain('part 2 of 3: why');
    expect(page).toContain('Pay 3 people');
    return { skipped: '0', failed: /name="failed" value="([^"]+)"/.exec(page)?.[1] ?? '' };
  };
  const [first, calls] = [await readForm(), world.state.submitted.length];
  // Without the attempt that the person has seen, nothing is sent again.
  await browser.submit(`${draft}/pay`, { skipped: '0' });
  expect([calls, world.state.submitted.length]).toEqual([2, 2]);
  await Promise.all([1, 2].map(() => browser.submit(`${draft}/pay`, first)));
  await expect.poll(readRun).toContain('Send again what has failed');
  await browser.submit(`${draft}/pay`, first);
  expect(world.state.submitted).toHaveLength(3);
  await browser.submit(`${draft}/pay`, await readForm());
  await expect.poll(readRun).toContain('Part 3 of 3: paid');
  expect(world.state.submitted).toHaveLength(5);
  expect(new Set([...world.state.paid.values()].map(String))).toEqual(new Set(['1000000']));
  expect(world.state.paid.size).toBe(5);
});

it('cancels a payment that runs', async () => {
  const { world, browser } = await open();
  world.state.verdict = () => 'open';
  await browser.submit(`${await give(browser)}/pay`, { skipped: '0' });
  const run = 'runs/anvil/USDC/2026-11';
  expect(await browser.read(run)).toContain('Cancel this payment');
  await browser.submit(`${run}/cancel`);
  await expect.poll(() => browser.read(run)).toContain('<p class="faint">cancelled');
  expect(world.state.paid.size).toBe(0);
});

it('says that the console has a roster no more', async () => {
  const { browser } = await open();
  const draft = await give(browser);
  expect(await browser.read('')).toContain(draft);
  await browser.submit(`${draft}/drop`);
  const gone = await browser.get(draft);
  expect([gone.status, await gone.text()]).toEqual([
    404,
    expect.stringContaining('What was sent is not paid again'),
  ]);
});
