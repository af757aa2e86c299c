// The deadline of a batch is chosen when the batch is released (protocol §3), under the lock of its allowance, and
// stored before anything is signed.
import { assertField, parseHex32 } from '@pool/core';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createFakeJob, createWorld, type FakeJob, type World } from '../fixtures/fake-world.ts';
import { releaseName } from './job/record.ts';

async function dieAt(world: World, job: FakeJob, where: string): Promise<void> {
  await expect(
    world.run(job, (point) => {
      if (point === where) {
        throw new Error('crash');
      }
    }),
  ).rejects.toMatchObject({ code: 'run_interrupted' });
}

function deadlineOf(job: FakeJob): number {
  const record: { deadline: number } = JSON.parse(job.values.get(releaseName) ?? '{}');
  return record.deadline;
}

describe('a queue of one funder and token', () => {
  it('pays every batch and proves each once, even if the queue takes longer than an authorisation is valid', async () => {
    const world = await createWorld({ permit: true });
    const turns = createKeyLock();
    const keys = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    const jobs = await Promise.all(keys.map((key) => world.accept(key)));
    const countWaiting = () => jobs.filter((job) => job.record().stage === 'awaiting-turn').length;
    const platform: World['platform'] = {
      ...world.platform,
      async postSettlement(key, request) {
        while (world.platform.posts === 0 && countWaiting() < keys.length - 1) {
          await new Promise(setImmediate);
        }
        // A batch gets into a block after thirteen minutes, as where the fees of the chain are high.
        world.clock.advanceSeconds(780);
        return world.platform.postSettlement(key, request);
      },
    };
    const events = await Promise.all(
      jobs.map((job) => world.run(job, undefined, { turns, platform })),
    );
    expect(jobs.map((job) => [job.state(), job.record().error?.code])).toEqual(
      keys.map(() => ['done', undefined]),
    );
    expect(world.chain.funds).toBe(keys.length);
    expect(world.prover.proofs).toBe(keys.length);
    // A waiting job reports what it waits for.
    const waits = events.filter((of) =>
      of.some((event) => event.kind === 'stage' && event.stage === 'awaiting-turn'),
    );
    expect(waits).toHaveLength(keys.length - 1);
  });

  it('proves again before it signs if the root was replaced while a batch waited', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 60 });
    const turns = createKeyLock();
    const jobs = [await world.accept('one'), await world.accept('two')] as const;
    const first = world.run(jobs[0], undefined, { turns });
    await world.run(
      jobs[1],
      (point) => {
        if (point === 'proving.after-store' && world.prover.proofs === 2) {
          world.chain.refuseRoot(world.gate.root());
          world.gate.admit({ ...world.holders[0]!, walletId: assertField(77n) });
        }
      },
      { turns },
    );
    await first;
    expect(jobs.map((job) => job.state())).toEqual(['done', 'done']);
    expect(world.prover.proofs).toBe(3);
    // The relayer never received a stale proof.
    expect(world.platform.posts).toBe(2);
  });

  it('fails at once, with nothing signed, when a wallet lost its place while a batch waited', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 60 });
    const turns = createKeyLock();
    const jobs = [await world.accept('one'), await world.accept('two')] as const;
    const first = world.run(jobs[0], undefined, { turns });
    await world.run(
      jobs[1],
      (point) => {
        if (point === 'proving.after-store' && world.prover.proofs === 2) {
          world.gate.expel(world.holders[1]!);
        }
      },
      { turns },
    );
    await first;
    expect(jobs[1].record().error?.code).toBe('unregistered-recipient');
    expect(jobs[1].record().signature).toBeUndefined();
  });
});

describe('the release record', () => {
  it('is on disk before anything is signed', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await dieAt(world, job, 'signing.signed');
    expect(deadlineOf(job)).toBeGreaterThan(world.clock.nowMs() / 1000);
    expect(job.record().signature).toBeUndefined();
  });

  it.each(['release.after-store', 'signing.after-store'])(
    'keeps the deadline of a run that crashed at %s',
    async (point) => {
      const world = await createWorld({ permit: true });
      const job = await world.accept();
      await dieAt(world, job, point);
      const chosen = deadlineOf(job);
      world.clock.advanceSeconds(1_800);
      await world.run(job);
      expect(world.platform.rows.get('run-1')?.batch.deadline).toBe(chosen);
      expect(job.state()).toBe('done');
    },
  );

  it('fails a run whose deadline passed before its release, and signs no second authorisation', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await dieAt(world, job, 'release.after-store');
    world.clock.advanceSeconds(2 * 3600);
    await world.run(job);
    expect(job.record().error?.code).toBe('settlement_expired');
    expect(job.record().signature).toBeUndefined();
    expect(world.platform.posts).toBe(0);
  });

  it('keeps the deadline of the batch that was released before its store was restored', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const job = await world.accept();
    await dieAt(world, job, 'proving.after-store');
    const backup = createFakeJob(job.payload());
    for (const [name, value] of job.values) {
      backup.values.set(name, value);
    }
    await dieAt(world, job, 'settling.posted');
    world.clock.advanceSeconds(1_800);
    await world.run(backup);
    expect(deadlineOf(backup)).toBe(deadlineOf(job));
    expect(world.platform.postedRoots.size).toBe(1);
  });

  it('waits, after a restart too, for an authorisation of another agent that lives longer', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const job = await world.accept();
    await dieAt(world, job, 'settling.posted');
    const row = world.platform.rows.get('run-1')!;
    const later = row.batch.deadline + 3_600;
    const batchRoot = parseHex32(`0x${'0a'.repeat(32)}`);
    world.platform.rows.set('run-1', {
      ...row,
      batch: { ...row.batch, batchRoot, deadline: later },
    });
    let looks = 0;
    const signal = new AbortController();
    await expect(
      world.run(job, undefined, {
        clock: {
          ...world.clock,
          async sleep(milliseconds) {
            looks += 1;
            if (looks > 3) {
              signal.abort();
              throw new Error('power cut');
            }
            await world.clock.sleep(milliseconds, signal.signal);
          },
        },
      }),
    ).rejects.toMatchObject({ code: 'run_interrupted' });
    world.clock.advanceSeconds(row.batch.deadline + 60 - world.clock.nowMs() / 1000);
    await world.run(job);
    expect(job.record().error?.code).toBe('settlement_expired');
    expect(world.clock.nowMs() / 1000).toBeGreaterThan(later);
  });
});
