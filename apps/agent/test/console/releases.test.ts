// The pages about releases: what waits, what a person takes away, their signed word, and the log.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJobStore } from '@pool/idempotency';
import { signRelease } from '@pool/pay-run';
import { expect, it, onTestFinished } from 'vitest';
import {
  createPreparedBatch,
  waitingKey,
} from '../../../../packages/pay-run/src/fixtures/prepared-batch.ts';
import { openTestConsole } from './console-world.ts';

async function open() {
  const prepared = await createPreparedBatch();
  const { place, home, keyFile, releases, close } = prepared;
  onTestFinished(close);
  const store = await openJobStore(place.jobs);
  onTestFinished(() => store.close());
  const console = openTestConsole({
    ...{ chains: place.chains, releases: { ...releases, store } },
  });
  const browser = await console.login();
  const digest = /releases\/(0x[0-9a-f]{64})"/.exec(await browser.read('releases'))?.[1] ?? '';
  const silent = { out: () => undefined, terminal: { isTty: false, write: () => undefined } };
  return {
    ...{ ...prepared, console, browser, digest },
    /** What a person does on a machine of their own. @returns the answer */
    async sign(decision: 'release' | 'deny', change = (request: string) => request) {
      const [request, answer] = [join(home, 'request.json'), join(home, `${decision}.json`)];
      const downloaded = await browser.read(`releases/${digest}/request.json`);
      writeFileSync(request, change(downloaded));
      const noAgent = () => Promise.reject(new Error('the machine has no agent'));
      await signRelease(request, decision, noAgent, { keyFile, out: answer }, silent);
      return readFileSync(answer, 'utf8');
    },
  };
}

it('shows what waits and for whom, takes the word of a person, and the payment goes on', async () => {
  const { browser, digest, sign, world, job, releases, clock } = await open();
  const list = await browser.read('releases');
  expect(list).toContain('0.006 USDC');
  expect(list).toContain('waits for 1 of Ben');
  const page = await browser.read(`releases/${digest}`);
  for (const text of [
    ...[digest, waitingKey, '(6000 base units)', 'by loopback at', '1 of Ben', 'Ada, who can'],
    ...[releases.policy.sha256, '0.003 USDC', `release sign request-${digest.slice(2, 10)}.json`],
  ]) {
    expect(page).toContain(text);
  }
  const text = await sign('release');
  const stored = await browser.submit('releases', { text });
  expect([stored.status, stored.headers.get('location')]).toEqual([
    303,
    `${browser.place}releases?stored=1`,
  ]);
  expect(await browser.read('releases?stored=1')).toContain('1 signed word was stored');
  // The same word again is one entry.
  await browser.submit('releases', { text });
  expect(await browser.read('releases')).toContain('released by Ben');
  expect(await browser.read(`releases/${digest}`)).not.toContain('--key-file');
  await world.run(job, undefined, { releases, clock });
  expect(job.state()).toBe('done');
  expect((await browser.get(`releases/${digest}`)).status).toBe(404);
  const log = await browser.read('releases/log');
  expect(log).toContain('The log is intact: 4 entries');
  expect(log).toMatch(/<td>release<\/td>\s*<td>Ben<\/td>[\s\S]*0\.006 USDC/);
});

it('refuses a word about other amounts, and what is no answer', async () => {
  const { browser, sign, releases } = await open();
  const changed = await sign('release', (request) =>
    request.replace('"amount": "3000"', '"amount": "9"'),
  );
  const refused = await browser.submit('releases', { text: changed });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('no prepared batch of this agent pays what was signed');
  for (const text of ['', '{', '{"format":"pool/release-answer/1","releases":[]}']) {
    expect((await browser.submit('releases', { text })).status).toBe(400);
  }
  expect(await releases.log.listSince()).toHaveLength(1);
});

it('takes a denial, which ends the payment', async () => {
  const { browser, digest, sign, world, job, releases, clock } = await open();
  await browser.submit('releases', { text: await sign('deny') });
  expect(await browser.read(`releases/${digest}`)).toContain('denied by Ben: it is never paid');
  await world.run(job, undefined, { releases, clock });
  expect(job.record().error?.code).toBe('release_denied');
});

it('says when the log is not as it was written, and gives it as "release verify" reads it', async () => {
  const { browser, releases } = await open();
  const { entries } = JSON.parse(await browser.read('releases/log.json')) as {
    readonly entries: readonly { readonly digest: string }[];
  };
  expect(entries).toEqual(await releases.log.listSince());
  const kept = entries[0]?.digest ?? '';
  expect(await browser.read(`releases/log?head=${kept}`)).toContain('has the digest that you kept');
  const other = await browser.read(`releases/log?head=0x${'0'.repeat(64)}`);
  expect(other).toContain('The log is not as it was written');
});

it('says that nothing waits on an agent without a policy', async () => {
  const browser = await openTestConsole().login();
  expect(await browser.read('releases')).toContain('This agent has no release policy');
  expect((await browser.submit('releases', { text: '{}' })).status).toBe(400);
  expect((await browser.get('releases/log')).status).toBe(404);
});
