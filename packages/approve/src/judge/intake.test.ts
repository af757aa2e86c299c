// The queue of posts: one rebuild at a time, few that wait, and none for a client that went away. The rebuild waits for the test.
import { openLedger, parsePolicy } from '@pool/policy';
import { expect, it, onTestFinished } from 'vitest';
import { rebuildFund } from '../fixtures/bodies.ts';
import { fundFile, policyJson } from '../fixtures/payroll.ts';
import { createIntake } from './intake.ts';

const rules = policyJson({ funderWallet: 'wa-funder', initiator: 'us-agent' });

/** @param reloads - policies that are read while the nodes are asked, one at a time */
function openIntake(reloads: unknown[] = []) {
  const ledger = openLedger({ path: ':memory:', role: 'voter' });
  onTestFinished(() => ledger.close());
  const started = Promise.withResolvers<undefined>();
  let policy = parsePolicy(rules);
  let rebuilt = 0;
  const intake = createIntake({
    ledger,
    policy: () => policy,
    rebuilds: {
      async rebuild(file) {
        rebuilt += 1;
        await started.promise;
        if (!('seed' in file) || file.manifest.kind !== 'fund' || !('deadline' in file)) {
          throw new TypeError('a batch is expected');
        }
        return rebuildFund({ ...file, manifest: file.manifest });
      },
      keep() {},
      find: async () => undefined,
      forget() {},
    },
    facts: {
      read: async () => ({}),
      readClock: async () => {
        const next = reloads.shift();
        policy = next === undefined ? policy : parsePolicy(next);
        return [];
      },
      probe: async () => undefined,
      problems: () => [],
    },
    nowMs: Date.now,
  });
  return { intake, ledger, start: () => started.resolve(undefined), count: () => rebuilt };
}

it('drops a post whose client went away before its turn', async () => {
  const { intake, ledger, start, count } = openIntake();
  const [first, left, last] = [fundFile(), fundFile(), fundFile()];
  const controller = new AbortController();
  const posts = [
    intake.post(first),
    intake.post(left, controller.signal),
    intake.post(last, new AbortController().signal),
  ];
  controller.abort();
  start();
  const ends = await Promise.allSettled(posts);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([ledger.listManifests().length, count()]).toEqual([2, 2]);
});

it('lets 64 posts wait, and answers the next one that it comes too early', async () => {
  const { intake, start } = openIntake();
  const file = fundFile();
  const first = intake.post(file);
  // The first one has its turn.
  await Promise.resolve();
  const waiting = Array.from({ length: 64 }, () => intake.post(file));
  await expect(intake.post(file)).rejects.toMatchObject({ code: 'manifest_not_ready' });
  start();
  await Promise.all([first, ...waiting]);
  expect(await intake.post(file)).toMatchObject({ state: 'pending' });
});

const elsewhere = { ...rules, employers: ['00000000-0000-4000-8000-000000000000'] };

it('decides and rebuilds by the policy that was read while the nodes were asked', async () => {
  const { intake, ledger, start, count } = openIntake([elsewhere, rules]);
  start();
  expect(await intake.post(fundFile())).toMatchObject({ state: 'pending' });
  expect([ledger.listManifests().length, count()]).toEqual([1, 3]);
});

it('stores nothing that the newer policy refuses', async () => {
  const { intake, ledger, start } = openIntake([elsewhere]);
  start();
  await expect(intake.post(fundFile())).rejects.toMatchObject({ code: 'manifest_refused' });
  expect(ledger.listManifests()).toEqual([]);
});
