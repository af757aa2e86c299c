// A failed job states that its key has no effect on chain. These are the cases in which that would be
// false: the authorisation of another agent, or of this one before its store was restored, is still alive.
import { describe, expect, it } from 'vitest';
import { createFakeJob, createWorld, type FakeJob, type World } from '../fixtures/fake-world.ts';

/** Runs the job up to the named point, where its process crashes. */
async function dieAt(world: World, job: FakeJob, where: string): Promise<void> {
  await expect(
    world.run(job, (point) => {
      if (point === where) {
        throw new Error('crash');
      }
    }),
  ).rejects.toMatchObject({ code: 'run_interrupted' });
}

/** A first agent has posted its batch under the key; the relayer does not send it. */
async function createLiveAuthorization() {
  const world = await createWorld({ permit: true });
  world.platform.holdBack = true;
  const first = await world.accept('shared');
  await dieAt(world, first, 'settling.posted');
  const row = world.platform.rows.get('shared');
  if (row === undefined) {
    throw new Error('nothing was posted');
  }
  return { world, first, row, nowSeconds: () => Math.floor(world.clock.nowMs() / 1000) };
}

describe('a job that would fail', () => {
  it('waits until a newly found authorisation of another agent is dead [state.failed-means-no-effect]', async () => {
    const { world, row, nowSeconds } = await createLiveAuthorization();
    const second = await world.accept('shared');
    world.platform.rows.delete('shared');
    world.gate.failCalls(1_000_000);
    await world.run(second, (point) => {
      if (point === 'eligibility.entered') {
        world.platform.rows.set('shared', row);
      }
    });
    expect(second.state()).toBe('failed');
    expect(second.record().error?.code).toBe('gate_unreachable');
    expect(nowSeconds()).toBeGreaterThan(row.batch.deadline);
  });

  it('ends done when another agent has paid the key in the meantime [state.failed-means-no-effect]', async () => {
    const { world, first, row } = await createLiveAuthorization();
    const second = await world.accept('shared');
    world.platform.rows.delete('shared');
    world.gate.failCalls(1_000_000);
    await world.run(second, (point) => {
      if (point === 'eligibility.entered') {
        world.platform.rows.set('shared', row);
        world.chain.mineFund(row.batch, first.record().permit?.wire);
      }
    });
    expect(second.record().error).toBeUndefined();
    expect(second.state()).toBe('done');
    expect(world.chain.funds).toBe(1);
  });

  it('keeps its release, even if the platform has lost it and little time is left', async () => {
    const { world, first, row, nowSeconds } = await createLiveAuthorization();
    world.platform.rows.delete('shared');
    // Too late to release anything new, and early enough for a released batch to be mined.
    world.clock.advanceSeconds(row.batch.deadline - 10 - nowSeconds());
    await world.run(first);
    expect(first.state()).toBe('failed');
    expect(first.record().error?.code).toBe('settlement_expired');
    expect(nowSeconds()).toBeGreaterThan(row.batch.deadline);
  });

  it.each([
    ['another agent’s settlement is at the platform', 0],
    ['the platform cannot say whether there is one', 1_000_000],
  ])('waits for a chain that is not configured any more while %s', async (_, failures) => {
    const { world } = await createLiveAuthorization();
    const second = await world.accept('shared');
    world.platform.failCalls(failures);
    await expect(
      world.run(second, undefined, { findChain: () => undefined }),
    ).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(second.state()).not.toBe('failed');
  });

  it('stays unfinished while the platform cannot say whether the key was posted [state.failed-means-no-effect]', async () => {
    const { world } = await createLiveAuthorization();
    const second = await world.accept('shared');
    world.platform.failCalls(1_000_000);
    await expect(world.run(second)).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(second.state()).not.toBe('failed');
  });

  it('stays unfinished while the chain cannot say whether the key was paid [state.failed-means-no-effect]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.chain.failReads(1_000_000);
    await expect(world.run(job)).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(job.state()).not.toBe('failed');
  });

  it('recognises its own authorisation after its store was restored from a backup', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const job = await world.accept();
    await dieAt(world, job, 'signing.after-store');
    const backup = createFakeJob(job.payload());
    for (const [name, value] of job.values) {
      backup.values.set(name, value);
    }
    await dieAt(world, job, 'settling.posted');
    const deadline = world.platform.rows.get('run-1')?.batch.deadline ?? 0;

    await world.run(backup);
    expect(backup.record().releasedAtMs).toBeDefined();
    expect(backup.record().error?.code).toBe('settlement_expired');
    expect(Math.floor(world.clock.nowMs() / 1000)).toBeGreaterThan(deadline);
    expect(world.platform.postedRoots.size).toBe(1);
  });
});
