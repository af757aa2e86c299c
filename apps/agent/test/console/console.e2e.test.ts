// A payroll clerk's path through the console in a real browser, on a phone: every page without findings of axe-core, under the policy,
// without a request to another origin. A second press pays nobody twice, and a closed tab loses nothing.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveHttp } from '@pool/http-server';
import { hasBrowser, inspectView, openBrowser, openPage, press } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createScheduleWorld } from '../../../../packages/pay-run/src/fixtures/schedule-world.ts';
import { openTestConsole } from './console-world.ts';
import { createFakeOwners } from './fake-owners.ts';
import { createFakeReader } from './fake-reader.ts';

/** Without it no pictures are kept. */
const pictures = process.env['CONSOLE_PICTURES'];

describe.skipIf(!hasBrowser)('the console (without Chromium it is skipped)', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  async function open() {
    const schedules = await createScheduleWorld('2027-03-01T00:00:00Z');
    onTestFinished(() => schedules.close());
    const agent = await schedules.startAgent();
    await agent.schedules.add(schedules.define('monthly'));
    schedules.writeRoster('payroll-2027-03.csv');
    schedules.setClock('2027-03-28T08:00:00Z');
    await agent.pass();
    const { owners, ask } = await createFakeOwners();
    const console = openTestConsole({
      owners,
      ...{ people: 40, maxRecipients: 64, pollMs: 500, jobs: schedules.jobs },
      nowMs: () => schedules.clock.nowMs,
      holder: createFakeReader().holder,
    });
    const { app } = console.world;
    const server = await serveHttp((request, from) => app.fetch(request, from), {
      ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
    });
    onTestFinished(() => server.close());
    const errors: (readonly string[])[] = [];
    const asked = new Set<string>();
    return {
      console,
      ask,
      /** A tab of a browser that has no session, at a new login. */
      async openTab() {
        const opened = await openPage(browser, `${server.url}${console.pages.issueLogin()}`);
        const { page } = opened;
        errors.push(opened.errors);
        page.on('request', (request) => asked.add(new URL(request.url()).origin));
        onTestFinished(() => page.context().close());
        await page.setViewportSize({ width: 390, height: 844 });
        return page;
      },
      /** What the policy stops is an error in the browser's console. @param refused - forms that were answered with 400 */
      expectClean(refused: number) {
        const expected = Array.from({ length: refused }, () => expect.stringContaining('400'));
        expect(errors.flat()).toEqual(expected);
        expect([...asked]).toEqual([server.url]);
      },
    };
  }

  type Page = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['openTab']>>;

  async function look(page: Page, title: string, name: string): Promise<void> {
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true });
    }
    const picture = pictures === undefined ? undefined : join(pictures, name);
    expect([name, await inspectView(page, title, picture)]).toEqual([name, []]);
  }

  async function give(page: Page, label: string, text: string, sum: string): Promise<void> {
    await page.getByRole('link', { name: 'New pay run' }).click();
    await look(page, 'New pay run', 'new');
    await page.getByLabel('Label', { exact: true }).fill(label);
    await page.getByLabel('File').setInputFiles({
      ...{ name: 'payroll.csv', mimeType: 'text/csv', buffer: Buffer.from(text) },
    });
    await page.getByLabel('How amounts are written').selectOption('point-comma');
    await page.getByLabel('Number of people').fill('40');
    await page.getByLabel('Sum of all amounts').fill(sum);
    await press(page, 'Check the roster');
  }

  it('shows six defects in forty rows, pays once, and follows the payment after a closed tab', async () => {
    const { console, ask, openTab, expectClean } = await open();
    const { world } = console;
    const rows = world.entries.map(
      ({ recipientAddress }, index) => `Person ${index};1.000,50;Berlin;${recipientAddress}`,
    );
    const roster = (lines: readonly string[]): string =>
      ['name;amount;office;address', ...lines].join('\r\n');
    const wrong = rows.with(3, 'P;1,000.50;Berlin;0x12').with(7, rows[6] ?? '');
    wrong[9] = wrong[9]?.replace('1.000,50', '-5') ?? '';
    wrong[20] = `${wrong[20]};x`;
    wrong[30] = 'P;;Berlin;';

    const page = await openTab();
    await look(page, 'Open the console', 'login');
    await press(page, 'Open the console');
    await look(page, 'Pay runs', 'empty');
    await give(page, '2026-11', roster(wrong), '40.020');
    await look(page, 'Check 2026-11', 'defects');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'The wrong rows' }).click();
    const table = readFileSync(await (await downloading).path(), 'utf8');
    // Two rows have two defects each.
    expect(table.trimEnd().split('\r\n')).toHaveLength(1 + 5);
    await press(page, 'Remove this roster');
    await give(page, '2026-11', roster(rows), '40.020');
    await look(page, 'Check 2026-11', 'check');
    world.state.verdict = () => 'settling';
    await page.getByRole('button', { name: 'Pay 40 people' }).dblclick();
    await look(page, '2026-11', 'running');
    await page.close();

    const later = await openTab();
    await press(later, 'Open the console');
    await look(later, 'Pay runs', 'list');
    await later.getByRole('link', { name: '2026-11', exact: true }).click();
    await later.getByText('Payment: running').waitFor();
    expect(world.state.submitted).toHaveLength(1);
    await world.state.settling[0]?.('completed');
    // The page updates itself.
    await later.getByText('Payment: paid').waitFor();
    await look(later, '2026-11', 'paid');
    expect(world.state.paid.size).toBe(40);
    expect(new Set([...world.state.paid.values()].flat())).toEqual(new Set([1_000_500_000n]));
    await later.getByRole('link', { name: 'Balance' }).click();
    await look(later, 'Balance', 'balance');
    await later.getByRole('link', { name: 'Schedules' }).click();
    await look(later, 'Schedules', 'schedules');
    await later.getByRole('link', { name: 'salaries-2027-03' }).waitFor();
    await ask('2026-12');
    await later.getByRole('link', { name: 'Releases' }).click();
    await look(later, 'Releases', 'releases');
    await later.getByRole('link', { name: '2026-12', exact: true }).click();
    await look(later, 'What the owners sign', 'owners');
    await later.getByLabel('Or paste them here').fill('0x1234');
    await press(later, 'Import the signatures');
    await later.getByText('the signature has 2 bytes').waitFor();
    await look(later, 'What the owners sign', 'owners-refused');
    await press(later, 'End the session');
    await look(later, 'The session has ended', 'ended');
    expectClean(1);
  });
});
