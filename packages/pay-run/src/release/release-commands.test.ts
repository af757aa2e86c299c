// What a person sees of a batch that waits, and how their word comes back from another machine.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatData } from '@pool/core';
import { textOf } from '@pool/testkit';
import { afterEach, expect, it } from 'vitest';
import { createPreparedBatch } from '../fixtures/prepared-batch.ts';
import {
  importRelease,
  listReleases,
  printLog,
  showRelease,
  signRelease,
  verifyLog,
} from './release-commands.ts';
import { readReleaseSource } from './release-source.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function createOutput() {
  const lines: string[] = [];
  const out = (outcome: string | object) => void lines.push(textOf(outcome));
  return { lines, output: { out, terminal: { isTty: false, write: out } } };
}

async function noAgent(): Promise<never> {
  throw new Error('another machine has no agent');
}

async function setUp() {
  const prepared = await createPreparedBatch();
  closing.push(prepared.close);
  return prepared;
}

it('lists, shows, signs elsewhere, imports, and then the batch is paid', async () => {
  const { home, place, keyFile, job, world, releases, clock } = await setUp();
  const { lines, output } = createOutput();
  await listReleases(place, {}, output);
  expect(lines[0]).toContain('0.006 USDC on anvil to 3 recipient(s), prepared by loopback');
  expect(lines[0]).toContain('waits for 1 of Ben');

  const request = join(home, 'request.json');
  const answer = join(home, 'answer.json');
  await showRelease('march 2027', place, { out: request }, output);
  await showRelease('march 2027', place, { json: true }, output);
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual(JSON.parse(readFileSync(request, 'utf8')));
  const elsewhere = noAgent;
  await signRelease(request, 'release', elsewhere, { keyFile, out: answer }, output);
  expect(lines.join('\n')).toContain('0.003 USDC');
  await importRelease(await readReleaseSource(answer, fetch), place, output);
  await importRelease(await readReleaseSource(answer, fetch), place, output);
  expect(lines.at(-1)).toContain('released by Ben');
  expect(await releases.log.listSince()).toHaveLength(2);

  await world.run(job, undefined, { releases, clock });
  expect(job.state()).toBe('done');
  await printLog(releases, { json: true }, output);
  const log = join(home, 'log.json');
  writeFileSync(log, lines.at(-1) ?? '');
  expect(await verifyLog(log, elsewhere, {}, output)).toBe(0);
  // As the command line prints it.
  writeFileSync(log, formatData(JSON.parse(lines.at(-2) ?? '')));
  expect(await verifyLog(log, elsewhere, {}, output)).toBe(0);
  writeFileSync(log, (lines.at(-3) ?? '').replace('"Ben"', '"Eve"'));
  expect(await verifyLog(log, elsewhere, {}, output)).toBe(2);
  expect(lines.at(-1)).toContain('broken at entry 2');
});

it('refuses an answer about a batch whose roster was changed after it was shown', async () => {
  const { home, place, keyFile, releases } = await setUp();
  const { output } = createOutput();
  const [request, answer] = [join(home, 'request.json'), join(home, 'answer.json')];
  await showRelease('march-2027', place, { out: request }, output);
  writeFileSync(
    request,
    readFileSync(request, 'utf8').replace('"amount": "3000"', '"amount": "9"'),
  );
  await signRelease(request, 'release', noAgent, { keyFile, out: answer }, output);
  await expect(
    importRelease(await readReleaseSource(answer, fetch), place, output),
  ).rejects.toMatchObject({
    code: 'invalid_release',
    message: expect.stringContaining('nothing was stored'),
  });
  expect(await releases.log.listSince()).toHaveLength(1);
});

it('denies a batch on the machine of the agent, which then fails', async () => {
  const { place, keyFile, job, world, releases, clock } = await setUp();
  const { lines, output } = createOutput();
  await signRelease(job.stored().key, 'deny', async () => place, { keyFile }, output);
  expect(lines.at(-1)).toContain('denied by Ben');
  await world.run(job, undefined, { releases, clock });
  expect(job.record().error?.code).toBe('release_denied');
});

it('signs nothing without a yes, and with a key that others can read', async () => {
  const { home, place, keyFile, job } = await setUp();
  const { output } = createOutput();
  const asking = { ...output, ask: async () => 'no' };
  const key = job.stored().key;
  await expect(
    signRelease(key, 'release', async () => place, { keyFile }, asking),
  ).rejects.toMatchObject({ code: 'payment_declined' });
  const open = join(home, 'open.pem');
  writeFileSync(open, readFileSync(keyFile), { mode: 0o644 });
  await expect(
    signRelease(key, 'release', async () => place, { keyFile: open }, output),
  ).rejects.toThrow('can be read by others');
});

it('takes a label for a label, whatever files the folder has', async () => {
  const { keyFile } = await setUp();
  const { output } = createOutput();
  // The tests run where a file has this name.
  expect(existsSync('LICENSE')).toBe(true);
  await expect(signRelease('LICENSE', 'release', noAgent, { keyFile }, output)).rejects.toThrow(
    'another machine has no agent',
  );
  await expect(
    signRelease('missing.json', 'release', noAgent, { keyFile, out: 'x' }, output),
  ).rejects.toMatchObject({ code: 'invalid_release' });
});
