// Crashes at all points: the run is ended at every named point, and at every write to the store, and started
// again from the data on disk. Each time the contract sees exactly one fund(), and the job ends done.
import { describe, expect, it } from 'vitest';
import { createWorld, type WorldOptions } from '../fixtures/fake-world.ts';
import { deliveryName } from './delivery.ts';
import { faultPoints } from './fault-points.ts';
import { manifestName, releaseName } from './record.ts';

const variants: [string, WorldOptions][] = [
  ['with a permit', { permit: true, finalityBlocks: 5 }],
  ['with an approval', { finalityBlocks: 5 }],
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

describe.each(variants)('a crash %s', (_name, options) => {
  const impossible = options.permit === true ? onlyWithApproval : onlyWithPermit;
  const points = faultPoints.filter((point) => ![...impossible, ...onlyCancelled].includes(point));

  it.each(points)('at %s pays once', async (chosen) => {
    const world = await createWorld(options);
    const job = await world.accept();
    let crashes = 0;
    const run = world.run(job, (point) => {
      if (point === chosen) {
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
  });

  it('pays once if the store refuses any one write', async () => {
    for (let refused = 0; refused < 20; refused += 1) {
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
