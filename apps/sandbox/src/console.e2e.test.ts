// A payroll clerk's path through the console of a real agent, in a real browser on a phone: forty people with six defects, a closed tab, a
// second person's release, a payment that happens once, payslips, a part that fails and is sent again in the next month, and what a payee has.
// Every page is without findings of axe-core, under the policy of the console, without a request to another origin.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readData } from '@pool/testkit';
import { hasBrowser, inspectView, openBrowser, openPage, press } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainKey } from './chain/local-chain.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { agentScript } from './processes/agent-process.ts';

type Page = Awaited<ReturnType<typeof openPage>>['page'];

/** The folder of the pictures in docs/operations/console.md. Without it none are taken. */
const pictures = process.env['CONSOLE_PICTURES'];

describe.skipIf(!hasBrowser)('the console (without Chromium it is skipped)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pool-console-'));
  let stack: TestStack;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  const errors: (readonly string[])[] = [];
  const asked = new Set<string>();

  /** A command on a machine of its own, unless it is given the environment of the agent. */
  function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return new Promise<string>((resolve, reject) => {
      const flags = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
      const child = spawn(process.execPath, [...flags, agentScript, ...args], {
        env: { ...process.env, DISBURSE_HOME: join(folder, 'elsewhere'), ...env },
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.once('error', reject);
      child.once('close', (code) => {
        if (code === 0) {
          resolve(stdout);
        } else {
          reject(new Error(stdout + stderr));
        }
      });
    });
  }

  beforeAll(async () => {
    const made = await run(['release', 'new-key', 'ben.pem']);
    const policy = join(folder, 'release-policy.json');
    const rule = { chain: chainKey, token: 'USDC', from: '0', required: 1, people: ['Ben'] };
    const people = [
      { name: 'Ada', prepares: ['loopback'] },
      { name: 'Ben', publicKey: /0x[0-9a-f]{64}/.exec(made)?.[0] },
    ];
    const content = { version: 1, name: 'payroll', waitHours: 72, people, rules: [rule] };
    writeFileSync(policy, JSON.stringify(content), { mode: 0o600 });
    [stack, browser] = await Promise.all([
      // Forty people are three batches of fund-16.
      startTestStack({
        ...{ holderCount: 41, maxRecipients: 16 },
        agentEnvironment: { DISBURSE_RELEASE_POLICY: policy },
      }),
      openBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await stack.end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A browser that has no session, with a login of its own. */
  async function openConsole({ environment } = stack.agent): Promise<Page> {
    const printed = await run(['console', '--json'], environment);
    const { url } = readData(printed) as { readonly url: string };
    const opened = await openPage(browser, url);
    const { page } = opened;
    errors.push(opened.errors);
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    await page.setViewportSize({ width: 390, height: 844 });
    await look(page, 'Open the console');
    await press(page, 'Open the console');
    return page;
  }

  /** @param picture - its name in the documents. Absent: none is taken. @param from - the heading at its top */
  async function look(page: Page, title: string, picture?: string, from = title): Promise<void> {
    expect([title, await inspectView(page, title)]).toEqual([title, []]);
    if (pictures !== undefined && picture !== undefined) {
      mkdirSync(pictures, { recursive: true });
      await page.emulateMedia({ colorScheme: picture.endsWith('dark') ? 'dark' : 'light' });
      const top = `[...document.querySelectorAll('h1, h2')].find((one) => one.textContent.startsWith('${from}'))`;
      await page.evaluate(from === title ? 'scrollTo(0, 0)' : `${top}.scrollIntoView()`);
      const clip = { x: 0, y: 0, width: 390, height: 640 };
      await page.screenshot({ path: join(pictures, `${picture}.png`), clip });
    }
  }

  async function give(page: Page, label: string, lines: readonly string[], sum: string) {
    await page.getByRole('link', { name: 'Pay runs', exact: true }).click();
    await page.getByRole('link', { name: 'New pay run' }).click();
    await page.getByLabel('Label', { exact: true }).fill(label);
    const text = ['name;amount;office;address', ...lines].join('\r\n');
    await page.getByLabel('File').setInputFiles({
      ...{ name: 'payroll.csv', mimeType: 'text/csv', buffer: Buffer.from(`\ufeff${text}`) },
    });
    await page.getByLabel('How amounts are written').selectOption('point-comma');
    await page.getByLabel('Number of people').fill('40');
    await page.getByLabel('Sum of all amounts').fill(sum);
    await press(page, 'Check the roster');
    await page.getByRole('heading', { level: 1, name: `Check ${label}` }).waitFor();
  }

  /** @returns the path of the file, with the name that the page gave it */
  async function download(page: Page, begin: () => Promise<void>): Promise<string> {
    const downloading = page.waitForEvent('download');
    await begin();
    const file = await downloading;
    const path = join(folder, file.suggestedFilename());
    await file.saveAs(path);
    return path;
  }

  /** From the page of a payment that waits for its release. It is signed on another machine. */
  async function answerPart(
    page: Page,
    answered: {
      readonly verb: 'sign' | 'deny';
      readonly people: number;
      readonly name: string;
      /** The pages on the way are looked at. */
      readonly isLooked?: boolean;
      readonly picture?: string | undefined;
    },
  ): Promise<void> {
    const { verb, people, name, isLooked = false, picture } = answered;
    await page.getByRole('link', { name: `USDC to ${people} people` }).click();
    await (isLooked
      ? look(page, 'What is released', picture)
      : page.getByRole('heading', { name: 'What is released' }).waitFor());
    const request = await download(page, () =>
      page.getByRole('link', { name: 'Download the request' }).click(),
    );
    const answer = join(folder, `${name}.json`);
    await run(['release', verb, request, '--key-file', 'ben.pem', '--out', answer]);
    await page.getByRole('link', { name: 'Releases' }).click();
    if (isLooked) {
      await look(page, 'Releases');
    }
    await page.getByLabel('File of the answer').setInputFiles(answer);
    await press(page, 'Import the answer');
    await page.getByText('1 signed word was stored').waitFor();
  }

  /** Until all parts are paid. */
  async function releaseParts(page: Page, label: string, picture?: string): Promise<void> {
    for (const [index, people] of [14, 13, 13].entries()) {
      const name = `answer-${label}-${index}`;
      await answerPart(page, { verb: 'sign', people, name, isLooked: index === 0, picture });
      await see(page, label, `Part ${index + 1} of 3: paid`);
    }
  }

  async function see(page: Page, label: string, state: string): Promise<void> {
    await page.getByRole('link', { name: 'Pay runs', exact: true }).click();
    await page.getByRole('link', { name: label, exact: true }).click();
    await page.getByText(state).first().waitFor();
  }

  it('leads from a file with defects over a second person to payslips, and through the next month', async () => {
    const rows = stack.holders.map(
      ({ address }, index) => `Person ${index};1.000,50;Berlin;${address}`,
    );
    const november = rows.slice(0, 40);
    const wrong = november
      .with(3, november[3]?.replace('1.000,50', '1,000.50') ?? '')
      .with(7, november[6] ?? '')
      .with(9, november[9]?.replace('1.000,50', '-5') ?? '')
      .with(20, `${november[20]};x`)
      .with(30, november[30]?.replace('1.000,50', '') ?? '')
      .with(35, 'Person 35;1.000,50;Berlin;0x12');

    const page = await openConsole();
    await look(page, 'Pay runs');
    await give(page, '2026-11', wrong, '40.020');
    await look(page, 'Check 2026-11', 'defects-light');
    expect(await page.getByText('Nothing can be paid: 6 defects').count()).toBe(1);
    const table = await download(page, () =>
      page.getByRole('link', { name: 'The wrong rows' }).click(),
    );
    expect(readFileSync(table, 'utf8').trimEnd().split('\r\n')).toHaveLength(1 + 6);
    await press(page, 'Remove this roster');
    await give(page, '2026-11', november, '40.020');
    await look(page, 'Check 2026-11');
    // Two tabs that show the button, both pressed, one of them twice.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await Promise.all([
      page.getByRole('button', { name: 'Pay 40 people' }).dblclick(),
      press(other, 'Pay 40 people'),
    ]);
    for (const tab of [other, page]) {
      await tab.getByText('Release by a second person').waitFor();
    }
    await look(page, '2026-11');
    await page.context().close();

    const later = await openConsole();
    // What waits or was released cannot be edited.
    const edited = november.with(0, november[0]?.replace('1.000,50', '1.000,51') ?? '');
    await give(later, '2026-11', edited, '40.020,01');
    await later.getByText('It cannot be paid now').waitFor();
    expect(await later.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    await press(later, 'Remove this roster');
    await see(later, '2026-11', 'awaiting release');
    expect(await countFundedBatches(stack.place)).toBe(0);
    await releaseParts(later, '2026-11', 'release-dark');
    await look(later, '2026-11', 'paid-light');
    // The file again, under the label that was paid.
    await give(later, '2026-11', november, '40.020');
    await later.getByText('All of it was sent before under this label').waitFor();
    expect(await countFundedBatches(stack.place)).toBe(3);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(40_020_000_000n);

    await see(later, '2026-11', 'Part 3 of 3: paid');
    const csv = await download(later, () => press(later, 'Download'));
    expect(readFileSync(csv, 'utf8')).toMatch(
      /2026-11\/[1-3]\.[0-9]+,Person 7,0x[\s\S]*,0x[0-9a-f]{64},20[0-9TZ:-]+,Berlin\r\n/,
    );
    await later.getByLabel('What to download').selectOption('payslips');
    const zip = readFileSync(await download(later, () => press(later, 'Download')), 'latin1');
    // Entries are stored as they are: a payslip for each person, and the summary.
    expect(zip.match(/%PDF-/g)).toHaveLength(40 + 1);

    const december = rows.slice(1).with(4, rows[5]?.replace('1.000,50', '1.500,50') ?? '');
    await give(later, '2026-12', december, '40.520');
    await later.getByText('1 new, 1 missing, 1 changed by more than 10 %').waitFor();
    await look(later, 'Check 2026-12', 'difference-light', 'Compared with');
    await press(later, 'Pay 40 people');
    await answerPart(later, { verb: 'deny', people: 14, name: 'denied' });
    await see(later, '2026-12', 'Part 1 of 3: failed');
    await later.getByRole('link', { name: 'Send again what has failed' }).click();
    await later.getByText('part 1 of 3: Ben denied the release').waitFor();
    expect(await countFundedBatches(stack.place)).toBe(3);
    await press(later, 'Pay 40 people');
    await releaseParts(later, '2026-12');
    expect(await countFundedBatches(stack.place)).toBe(6);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(80_540_000_000n);
    await later.getByRole('link', { name: 'Releases' }).click();
    await later.getByRole('link', { name: 'Who prepared' }).click();
    await look(later, 'Release log');
    expect(await later.getByText('The log is intact: 27 entries').count()).toBe(1);
    await press(later, 'End the session');
    await look(later, 'The session has ended');

    const payee = await startHolderAgent(stack, stack.holders[1]!, 'payee');
    const own = await openConsole(payee);
    await own.getByRole('link', { name: 'Balance' }).click();
    // November and December.
    await own.getByText('2001 USDC').first().waitFor();
    const [, month = ''] = /,(20[0-9]{2}-[0-9]{2})-[0-9]{2}T/.exec(readFileSync(csv, 'utf8')) ?? [];
    await own.getByLabel('Month').fill(month);
    await press(own, 'Show');
    await own.getByRole('heading', { name: `History of ${month}` }).waitFor();
    await own.getByText('1000.5 USDC').first().waitFor();
    await look(own, 'Balance');
    // What the policy stops is an error in the browser's console.
    expect(errors.flat()).toEqual([]);
    expect([...asked]).toEqual([stack.agent.url, payee.url]);
  });
});
