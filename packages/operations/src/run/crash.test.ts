// Crashes at all points (../fixtures/crash-table.ts), and crashes of batches that are not paid. The other two ways to allow the pool to
// take the money: crash-variants.test.ts.
import { describe, expect, it } from 'vitest';
import { describeCrashes } from '../fixtures/crash-table.ts';
import { createWorld, type WorldOptions } from '../fixtures/fake-world.ts';
import { deliveryName } from './batch/batch.ts';
import { faultPoints } from './job/phases.ts';
import { cancellationName, manifestName, releaseName } from './job/record.ts';

const variants: [string, WorldOptions][] = [
  ['with a permit', { permit: true, finalityBlocks: 5 }],
  ['with an approval, and votes', { finalityBlocks: 5, isVoting: true }],
];

for (const [name, options] of variants) {
  describeCrashes(name, options);
}

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

describe.each(variants)('a batch %s that is refused for its deadline', (_name, options) => {
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
});

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
