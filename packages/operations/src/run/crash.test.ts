// Crashes at all points: the run is ended at every named point, and at every write to the store, and started
// again from the data on disk. Each time the contract sees exactly one fund(), and the job ends done.
import { describe, expect, it } from 'vitest';
import { createWorld, type WorldOptions } from '../fixtures/fake-world.ts';
import { deliveryName } from './batch/settlement-request.ts';
import { faultPoints } from './job/phases.ts';
import { cancellationName, manifestName, releaseName } from './job/record.ts';

const variants: [string, WorldOptions][] = [
  ['with a permit', { permit: true, finalityBlocks: 5 }],
  ['with an approval', { finalityBlocks: 5 }],
  ['with a permit, and votes', { permit: true, finalityBlocks: 5, isVoting: true }],
  ['with an approval, and votes', { finalityBlocks: 5, isVoting: true }],
];

const onlyWithPermit = ['permit.signed', 'permit.after-store'];
const onlyWithApproval = [
  'approval.signed',
  'approval.after-store',
  'approval.sent',
  'approval.mined',
];

/** Only a cancelled job passes these (cancellation.test.ts). */
const onlyCancelled = ['void.signed', 'void.after-store', 'void.posted'];

/** Only a batch that is given up after it was asked for or refused passes these. */
const onlyGivenUp = ['vote.withdrawn', 'batch.abandoned'];

const onlyVoted = ['vote.before-ask', 'vote.asked', 'vote.after-store'];

describe.each(variants)('a crash %s', (_name, options) => {
  const impossible = options.permit === true ? onlyWithApproval : onlyWithPermit;
  const unreached = [...onlyCancelled, ...onlyGivenUp, ...(options.isVoting ? [] : onlyVoted)];
  const reached = faultPoints.filter((point) => ![...impossible, ...unreached].includes(point));
  // Before the signature, a signer makes no difference.
  const points = options.isVoting ? reached.slice(reached.indexOf('signing.entered')) : reached;

  it.each(points)('at %s pays once', async (chosen) => {
    const world = await createWorld(options);
    const job = await world.accept();
    let crashes = 0;
    const run = world.run(job, (point) => {
      if (point === chosen && crashes === 0) {
        crashes += 1;
        throw new Error('crash');
      }
    });
    await expect(run).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(crashes).toBe(1);
    if (chosen !== 'result.after-store') {
      await world.run(job);
    }
    expect(job.state()).toBe('done');
    expect(job.record().result?.status).toBe('completed');
    expect(world.chain.funds).toBe(1);
    expect(world.chain.allowance).toBe(0n);
    expect(world.chain.approvals).toEqual(options.permit === true ? [] : [6_000n]);
    // One request at the provider for each content, and one signature.
    expect([...world.voting.signatures.values()]).toEqual(options.isVoting ? [1, 1] : []);
    expect(world.voting.requests.size).toBe(options.isVoting ? 2 : 0);
  });

  it('pays once if the store refuses any one write', async () => {
    for (let refused = 0; refused < 40; refused += 1) {
      const world = await createWorld(options);
      const job = await world.accept();
      let writes = 0;
      const failing = {
        ...job,
        journal: {
          ...job.journal,
          async save(...args: Parameters<typeof job.journal.save>) {
            writes += 1;
            if (writes === refused + 1) {
              throw new Error('disk full');
            }
            await job.journal.save(...args);
          },
        },
      };
      const ended = await world.run(failing).then(
        () => 'done',
        () => 'interrupted',
      );
      if (ended === 'done') {
        // Every write of a whole run has been refused once.
        expect(refused).toBeGreaterThan(8);
        return;
      }
      await world.run(job);
      expect(job.state()).toBe('done');
      expect(world.chain.funds).toBe(1);
    }
    throw new Error('a run never got through');
  });

  it('pays once if each run crashes one point later than the previous run', async () => {
    const world = await createWorld(options);
    const job = await world.accept();
    for (let life = 1; life < 60 && job.state() !== 'done'; life += 1) {
      let reached = 0;
      await world
        .run(job, () => {
          reached += 1;
          if (reached === life) {
            throw new Error('crash');
          }
        })
        .catch(() => undefined);
    }
    expect(job.state()).toBe('done');
    expect(world.chain.funds).toBe(1);
    expect(world.voting.requests.size).toBe(options.isVoting ? 2 : 0);
  });
});

describe('a voted batch that is cancelled', () => {
  const points = [
    'vote.before-ask',
    'vote.asked',
    'vote.after-store',
    'vote.withdrawn',
    'batch.abandoned',
    'signing.signed',
    'signing.after-store',
    'permit.signed',
    'void.signed',
    'void.after-store',
    'void.posted',
  ] as const;

  it.each(points)('and crashes at %s is never released', async (chosen) => {
    const world = await createWorld({ permit: true, finalityBlocks: 5, isVoting: true });
    const job = await world.accept();
    const isLate =
      ['permit.signed', 'batch.abandoned'].includes(chosen) || chosen.startsWith('void');
    let crashes = 0;
    for (let life = 0; life < 3 && job.state() !== 'failed'; life += 1) {
      await world
        .run(job, (point) => {
          // Cancelled while the vote lasts, or after the authorisation was signed.
          if (point === (isLate ? 'signing.after-store' : 'vote.before-ask')) {
            job.values.set(cancellationName, '{"askedAtMs":1}');
          }
          if (point === chosen && crashes === 0) {
            crashes += 1;
            throw new Error('crash');
          }
        })
        .catch(() => undefined);
    }
    expect(job.record().error?.code).toBe('cancelled');
    expect(world.platform.posts).toBe(0);
    expect(world.chain.funds).toBe(0);
    expect(world.voting.countOf('fund-authorization')).toBeLessThanOrEqual(1);
    expect([...world.voting.signatures.values()].every((count) => count === 1)).toBe(true);
  });
});

describe.each([variants[0]!, variants[3]!])(
  'a batch %s that is refused for its deadline',
  (_name, options) => {
    // Before the release, the refusal makes no difference.
    const released = faultPoints.slice(faultPoints.indexOf('settling.released'));

    async function createRefusing() {
      const world = await createWorld(options);
      world.platform.deadlineSeconds = 60;
      return { world, job: await world.accept() };
    }

    function expectGivenUp({ world, job }: Awaited<ReturnType<typeof createRefusing>>): void {
      expect(job.record().error?.code).toBe('deadline_too_far');
      expect(job.record().result).toBeUndefined();
      expect(world.chain.funds).toBe(0);
      expect(world.chain.allowance).toBe(0n);
      expect(new Set(world.platform.voids.map(({ signature }) => signature)).size).toBe(1);
      expect([...world.voting.signatures.values()].every((count) => count === 1)).toBe(true);
    }

    it.each(['batch.abandoned' as const, ...released])(
      'and crashes at %s is withdrawn and never paid',
      async (chosen) => {
        const { world, job } = await createRefusing();
        let crashes = 0;
        const run = world.run(job, (point) => {
          if (point === chosen && crashes === 0) {
            crashes += 1;
            throw new Error('crash');
          }
        });
        await expect(run).rejects.toMatchObject({ code: 'run_interrupted' });
        if (chosen !== 'result.after-store') {
          await world.run(job);
        }
        expectGivenUp({ world, job });
      },
    );

    it('is withdrawn and never paid if the store refuses any one write', async () => {
      for (let refused = 0; refused < 40; refused += 1) {
        const { world, job } = await createRefusing();
        let writes = 0;
        const { save } = job.journal;
        job.journal.save = async (...args) => {
          writes += 1;
          if (writes === refused + 1) {
            throw new Error('disk full');
          }
          await save(...args);
        };
        const ended = await world.run(job).then(
          () => 'ended',
          () => 'interrupted',
        );
        if (ended === 'interrupted') {
          await world.run(job);
        }
        expectGivenUp({ world, job });
        if (ended === 'ended') {
          expect(refused).toBeGreaterThan(10);
          return;
        }
      }
      throw new Error('a run never got through');
    });
  },
);

describe('two workers on one key', () => {
  it('build one batch between them', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const other = { ...job };
    await Promise.allSettled([world.run(job), world.run(other)]);
    expect([...job.values.keys()].sort()).toEqual([deliveryName, manifestName, releaseName].sort());
    expect(world.platform.postedRoots.size).toBe(1);
    expect(world.chain.funds).toBe(1);
  });

  it('pay once with two stores, in either order', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 3 });
    const jobs = [await world.accept('shared'), await world.accept('shared')] as const;
    await Promise.all(jobs.map((job) => world.run(job)));
    expect(jobs.map((job) => job.state())).toEqual(['done', 'done']);
    expect(jobs.map((job) => job.record().result?.status)).toEqual(['completed', 'completed']);
    expect(jobs[0].record().result?.notes).toEqual(jobs[1].record().result?.notes);
    expect(world.chain.funds).toBe(1);
  });
});
