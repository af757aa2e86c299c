// What a person sees of a batch that waits, and how their word comes back from another machine.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJobStore } from '@pool/idempotency';
import { openReleaseLog } from '@pool/operations';
import { parseReleasePolicy } from '@pool/policy';
import { afterEach, expect, it } from 'vitest';
import { createWorld } from '../../../operations/src/fixtures/fake-world.ts';
import {
  importRelease,
  listReleases,
  makeReleaseKey,
  printLog,
  type ReleasePlace,
  showRelease,
  signRelease,
  verifyLog,
} from './release-commands.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function createOutput() {
  const lines: string[] = [];
  const out = (text: string) => void lines.push(text);
  return { lines, output: { out, terminal: { isTty: false, write: out } } };
}

async function noAgent(): Promise<never> {
  throw new Error('another machine has no agent');
}

/** A prepared batch of three people in the store of an agent. */
async function setUp() {
  const home = mkdtempSync(join(tmpdir(), 'release-'));
  const { lines, output } = createOutput();
  const keyFile = join(home, 'ben.pem');
  await makeReleaseKey(keyFile, output);
  const publicKey = /0x[0-9a-f]{64}/.exec(lines[0] ?? '')?.[0];
  const policy = parseReleasePolicy(
    JSON.stringify({
      ...{ version: 1, name: 'payroll', waitHours: 720 },
      people: [
        { name: 'Ada', prepares: ['loopback'] },
        { name: 'Ben', publicKey },
      ],
      rules: [{ chain: 'anvil', token: 'USDC', from: '0', required: 1, people: ['Ben'] }],
    }),
  );
  const jobs = { url: `sqlite:${join(home, 'jobs.sqlite')}` };
  const log = await openReleaseLog({ home, jobs });
  closing.push(() => log.close());
  const world = await createWorld();
  // The fake clock of the world is not that of the commands.
  const offsetMs = Date.now() - world.clock.nowMs();
  const clock = { ...world.clock, nowMs: () => world.clock.nowMs() + offsetMs };
  const ending = {
    ...clock,
    async sleep() {
      throw new Error('the process ends');
    },
  };
  const releases = { policy, log };
  const job = await world.accept('march-2027-00112233445566778899aabbccddeeff');
  await world.run(job, undefined, { releases, clock: ending }).catch(() => undefined);
  expect(job.stored().stage).toBe('awaiting-release');
  const store = await openJobStore(jobs);
  const name = { scope: job.stored().employerId, key: job.stored().key };
  const nowMs = Date.now();
  await store.claim({
    ...name,
    ...{ fingerprint: 'f', state: 'submitted', payload: job.payload(), nowMs },
  });
  const lease = await store.lease({ workerId: 'w', states: ['submitted'], ttlMs: 1, nowMs });
  for (const [value, text] of job.values) {
    await store.putOnce({ ...name, fence: lease!.fence, name: value, value: text });
  }
  await store.close();
  const chains = { anvil: world.context.settings };
  const place: ReleasePlace = { jobs, releases, chains };
  return { home, place, keyFile, job, world, releases, clock };
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
  const elsewhere = noAgent;
  await signRelease(request, 'release', elsewhere, { keyFile, out: answer }, output);
  expect(lines.join('\n')).toContain('0.003 USDC');
  await importRelease(answer, place, output);
  await importRelease(answer, place, output);
  expect(lines.at(-1)).toContain('released by Ben');
  expect(await releases.log.listSince()).toHaveLength(2);

  await world.run(job, undefined, { releases, clock });
  expect(job.state()).toBe('done');
  await printLog(releases, { json: true }, output);
  const log = join(home, 'log.json');
  writeFileSync(log, lines.at(-1) ?? '');
  expect(await verifyLog(log, elsewhere, {}, output)).toBe(0);
  writeFileSync(log, (lines.at(-2) ?? '').replace('"Ben"', '"Eve"'));
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
  await expect(importRelease(answer, place, output)).rejects.toMatchObject({
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
