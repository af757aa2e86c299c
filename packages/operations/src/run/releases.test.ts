// A batch waits for its release by people before it is signed (DISBURSE_RELEASE_POLICY). The wait survives a crash, and nothing is signed
// without the release.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BatchRelease,
  parseReleasePolicy,
  signBatchRelease,
  verifyReleaseLog,
} from '@pool/policy';
import { afterEach, describe, expect, it } from 'vitest';
import { people, peopleKeys } from '../../../policy/src/fixtures/batches.ts';
import { createWorld, type FakeJob, type World } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import { describeManifest, storeRelease } from '../prepared/prepared-batches.ts';
import { openReleaseLog, type ReleaseLog } from '../releases/release-log.ts';
import { type ReleaseDeps, readStanding } from '../releases/release-state.ts';
import {
  cancellationName,
  deserializeManifest,
  manifestName,
  serializeCancellation,
} from './job/record.ts';

const rule = { chain: 'anvil', token: 'USDC', from: '0', required: 1, people: ['Ben', 'Cy'] };
const policyJson = {
  ...{ version: 1, name: 'payroll', waitHours: 72 },
  people: [
    { name: 'Ada', prepares: ['loopback'] },
    { name: 'Ben', publicKey: peopleKeys[0] },
    { name: 'Cy', publicKey: peopleKeys[1] },
  ],
  rules: [rule],
};

const logs: ReleaseLog[] = [];
afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

async function setUp(changes: object = {}, home = mkdtempSync(join(tmpdir(), 'release-'))) {
  const log = await openReleaseLog({ home, jobs: { url: 'memory:' } });
  logs.push(log);
  const policy = parseReleasePolicy(JSON.stringify({ ...policyJson, ...changes }));
  const releases: ReleaseDeps = { policy, log };
  return { home, releases, world: await createWorld() };
}

/** As "release show", "release sign" and "release import" do. */
async function say(
  world: World,
  job: FakeJob,
  { policy, log }: ReleaseDeps,
  [index, decision]: readonly [number, 'release' | 'deny'],
  changes: Partial<BatchRelease> = {},
): Promise<void> {
  const { manifest } = deserializeManifest(job.values.get(manifestName) ?? '');
  const batch = describeManifest(manifest, { symbol: 'USDC', decimals: 6 });
  const [prepared] = await log.listOf(batch.key);
  const nowMs = world.clock.nowMs();
  const standing = await readStanding({ policy, log }, prepared!, batch, nowMs);
  const { manifestDigest, total, token, key, count } = batch;
  const content = {
    ...{ manifestDigest, total, token, key, count, decision },
    policy: policy.sha256,
    issuedAt: new Date(nowMs).toISOString(),
    until: new Date(nowMs + 3_600_000).toISOString(),
  };
  const word = { ...signBatchRelease(content, people[index]!), ...changes };
  await storeRelease({ policy, log }, { batch, standing }, word, nowMs);
}

async function runUntilItWaits(
  world: Pick<World, 'run' | 'clock'>,
  job: FakeJob,
  releases: ReleaseDeps,
): Promise<void> {
  const clock = {
    ...world.clock,
    async sleep() {
      throw new Error('the process ends');
    },
  };
  await expect(world.run(job, undefined, { releases, clock })).rejects.toThrow();
  expect(job.stored().stage).toBe('awaiting-release');
}

describe('a batch under a release policy', () => {
  it('waits, is signed after its release alone, and the log has all of it', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    expect(job.stored().phase.kind).toBe('proved');
    await say(world, job, releases, [0, 'release']);
    await world.run(job, undefined, { releases });
    expect(job.state()).toBe('done');
    const entries = await releases.log.listSince();
    expect(entries.map(({ event, by }) => [event, by])).toEqual([
      ['prepare', 'loopback'],
      ['release', 'Ben'],
      ['released', 'Ben'],
      ['paid', 'agent'],
    ]);
    expect(verifyReleaseLog(entries).kind).toBe('intact');
  });

  it('has come one step further when it is proved and when people have released it, and not when it runs again', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    const provedAtMs = job.stored().movedAtMs;
    expect(provedAtMs).toBeLessThanOrEqual(world.clock.nowMs());
    await world.clock.sleep(5_000, new AbortController().signal);
    await runUntilItWaits(world, job, releases);
    expect(job.stored().movedAtMs).toBe(provedAtMs);
    await say(world, job, releases, [0, 'release']);
    const releasedAtMs = world.clock.nowMs();
    let signing: number | undefined;
    const onFaultPoint = async (point: string): Promise<void> => {
      signing ??= point === 'signing.entered' ? job.stored().movedAtMs : undefined;
    };
    await world.run(job, undefined, { releases, onFaultPoint });
    expect(signing).toBeGreaterThanOrEqual(releasedAtMs);
    expect(releasedAtMs).toBeGreaterThan(provedAtMs ?? 0);
  });

  it('waits in a process that goes on, and other batches of the funder do not wait for it', async () => {
    const { world, releases } = await setUp({
      rules: [rule, { ...rule, from: '0.01', required: 2 }],
    });
    const first = await world.accept();
    const events = await runWith({ ...world, run: withReleases(world, releases) }, first, [
      [100, () => void say(world, first, releases, [1, 'release'])],
    ]);
    expect(first.state()).toBe('done');
    const stages = events.flatMap((event) => (event.kind === 'stage' ? [event.stage] : []));
    expect(stages).toContain('awaiting-release');
    // With what was prepared before, the second reaches the rule that requires two people.
    const second = await world.accept('run-2');
    await runUntilItWaits(world, second, releases);
    await say(world, second, releases, [0, 'release']);
    await runUntilItWaits(world, second, releases);
    await say(world, second, releases, [1, 'release']);
    await world.run(second, undefined, { releases });
    expect(second.state()).toBe('done');
  });

  it('that nobody releases in time fails, and the funder signs nothing', async () => {
    const { world, releases } = await setUp({ waitHours: 1 });
    const job = await world.accept();
    await world.run(job, undefined, { releases });
    expect(job.record().error).toMatchObject({
      code: 'release_expired',
      message: expect.stringContaining('within 1 hours'),
    });
    expect(job.record().signature).toBeUndefined();
    expect(world.chain.funds).toBe(0);
  });

  it('that a person denies fails at once, also after its release was complete', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    await say(world, job, releases, [0, 'release']);
    await say(world, job, releases, [1, 'deny']);
    await world.run(job, undefined, { releases });
    expect(job.record().error?.code).toBe('release_denied');
    expect((await releases.log.listSince()).at(-1)).toMatchObject({ event: 'failed' });
  });

  it('is cancelled while it waits', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    job.values.set(cancellationName, serializeCancellation(1, 'api-key:7'));
    await world.run(job, undefined, { releases });
    expect(job.record().error?.code).toBe('cancelled');
    const last = { event: 'cancel', by: 'api-key:7' };
    expect((await releases.log.listSince()).at(-1)).toMatchObject(last);
  });

  it('needs a new release when the policy was changed before it was signed', async () => {
    const { world, releases, home } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    await say(world, job, releases, [0, 'release']);
    const changed = await setUp({ waitHours: 71 }, home);
    await runUntilItWaits(world, job, changed.releases);
    await say(world, job, changed.releases, [0, 'release']);
    await world.run(job, undefined, { releases: changed.releases });
    expect(job.state()).toBe('done');
  });

  it('is not signed by an agent without the policy, which can cancel it', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    await expect(world.run(job)).rejects.toThrow('configuration_changed');
    expect(job.stored().phase.kind).toBe('proved');
    cancel(job);
    await world.run(job);
    expect(job.record().error?.code).toBe('cancelled');
  });

  it('is refused if its credential is that of nobody', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept('run-1', {}, 'api-key:9');
    await world.run(job, undefined, { releases });
    expect(job.record().error).toMatchObject({
      code: 'release_policy_refused',
      message: expect.stringContaining('lets nobody prepare'),
    });
  });

  it('keeps its release over a store that was restored, because the same is paid', async () => {
    const { world, releases } = await setUp();
    const first = await world.accept();
    await runUntilItWaits(world, first, releases);
    await say(world, first, releases, [0, 'release']);
    const restored = await world.accept();
    await world.run(restored, undefined, { releases });
    expect(restored.state()).toBe('done');
  });

  it('is not released by a word about another batch, which is not stored', async () => {
    const { world, releases } = await setUp();
    const job = await world.accept();
    await runUntilItWaits(world, job, releases);
    const other = say(world, job, releases, [0, 'release'], { total: '1' });
    await expect(other).rejects.toMatchObject({ code: 'invalid_release' });
    expect(await releases.log.listSince()).toHaveLength(1);
  });
});

describe('a scheduled batch', () => {
  /** Seconds from now. */
  async function schedule(
    seconds: { release: number; pay: number; end: number },
    changes = {},
    options: Parameters<typeof createWorld>[0] = {},
  ) {
    const { releases } = await setUp(changes);
    const world = await createWorld(options);
    const at = (offset: number): number => world.clock.nowMs() + offset * 1_000;
    const { release, pay, end } = seconds;
    const times = { releaseByMs: at(release), payAtMs: at(pay), payByMs: at(end) };
    const window = { owner: 'monthly 2027-03', isWithdrawn: false, ...times };
    const windows = { find: async () => window };
    const job = await world.accept();
    const run: World['run'] = (which, onFaultPoint, more = {}) =>
      world.run(which, onFaultPoint, { ...more, releases, windows });
    return { world: { ...world, run }, releases, job, window };
  }

  it('is not signed before its time, although it was released', async () => {
    const { world, releases, job, window } = await schedule({ release: 300, pay: 900, end: 1_800 });
    await runWith(world, job, [[100, () => void say(world, job, releases, [0, 'release'])]]);
    expect(job.state()).toBe('done');
    const entries = await releases.log.listSince();
    const at = (event: string): number =>
      Date.parse(entries.find((entry) => entry.event === event)?.at ?? '');
    expect(at('released')).toBeLessThan(window.releaseByMs);
    expect(at('paid')).toBeGreaterThanOrEqual(window.payAtMs);
  });

  it('is not paid by a release after its deadline', async () => {
    const { world, releases, job } = await schedule({ release: 300, pay: 900, end: 1_800 });
    await runUntilItWaits(world, job, releases);
    await world.clock.sleep(300_000, new AbortController().signal);
    await say(world, job, releases, [0, 'release']);
    await world.run(job);
    expect(job.record().error).toMatchObject({
      code: 'release_expired',
      message: expect.stringContaining('before its deadline'),
    });
    expect(world.chain.funds).toBe(0);
  });

  it('is not paid late, although it was released in time', async () => {
    const { world, releases, job } = await schedule({ release: 300, pay: 900, end: 1_800 });
    await runUntilItWaits(world, job, releases);
    await say(world, job, releases, [0, 'release']);
    await runUntilItWaits(world, job, releases);
    await world.clock.sleep(1_800_000, new AbortController().signal);
    await world.run(job);
    expect(job.record().error).toMatchObject({
      code: 'release_expired',
      message: expect.stringContaining('end of its time'),
    });
    expect(world.chain.funds).toBe(0);
  });

  it('is not paid without a person, although the policy requires none', async () => {
    const { world, job } = await schedule(
      { release: 300, pay: 900, end: 1_800 },
      {
        rules: [
          { ...rule, required: 0 },
          { ...rule, from: '1000000' },
        ],
      },
    );
    await world.run(job);
    expect(job.record().error).toMatchObject({
      code: 'release_policy_refused',
      message: expect.stringContaining('requires no person'),
    });
  });

  it('is not signed before its time by the clock of the chain, when ours is ahead', async () => {
    const { world, releases, job, window } = await schedule({ release: 300, pay: 900, end: 1_800 });
    const { chain } = world.context;
    const behind = {
      ...chain,
      fetchHeadTimestamp: async () => (await chain.fetchHeadTimestamp()) - 400,
    };
    const run: World['run'] = (which, point, more) =>
      world.run(which, point, {
        ...more,
        findChain: () => ({ ...world.context, chain: behind }),
      });
    await runWith({ ...world, run }, job, [
      [100, () => void say(world, job, releases, [0, 'release'])],
    ]);
    expect(job.state()).toBe('done');
    const entries = await releases.log.listSince();
    const paidAt = Date.parse(entries.find(({ event }) => event === 'paid')?.at ?? '');
    expect(paidAt).toBeGreaterThanOrEqual(window.payAtMs + 400_000);
  });

  it('is not signed once its schedule has withdrawn it, although it was released', async () => {
    const { world, releases, job, window } = await schedule({ release: 300, pay: 900, end: 1_800 });
    await runWith(world, job, [
      [100, () => void say(world, job, releases, [0, 'release'])],
      [500, () => Object.assign(window, { isWithdrawn: true })],
    ]);
    expect(job.record().error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('withdrawn'),
    });
    expect(world.clock.nowMs()).toBeLessThan(window.payAtMs);
    expect(world.chain.funds).toBe(0);
  });

  it('does not leave after the end of its time, although a vote signed it', async () => {
    const { world, releases, job } = await schedule(
      { release: 300, pay: 900, end: 1_800 },
      {},
      { isVoting: true },
    );
    world.voting.policy = () => 'wait';
    await runWith(world, job, [
      [100, () => void say(world, job, releases, [0, 'release'])],
      [1_900, () => world.voting.decide('fund-authorization', 'approve')],
    ]);
    expect(job.record().error).toMatchObject({
      code: 'release_expired',
      message: expect.stringContaining('had not left'),
    });
    expect(world.chain.funds).toBe(0);
  });

  it('is not signed by an agent without a policy, which never saw it before', async () => {
    const world = await createWorld();
    const job = await world.accept();
    const times = { releaseByMs: 1, payAtMs: 1, payByMs: Number.MAX_SAFE_INTEGER };
    const window = { owner: 'monthly 2027-03', isWithdrawn: false, ...times };
    const windows = { find: async () => window };
    await expect(world.run(job, undefined, { windows })).rejects.toThrow('configuration_changed');
    expect(world.chain.funds).toBe(0);
  });
});

function withReleases(world: World, releases: ReleaseDeps): World['run'] {
  return (job, onFaultPoint, changes = {}) =>
    world.run(job, onFaultPoint, { ...changes, releases });
}
