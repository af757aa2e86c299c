// Cancels a job. Before the release it ends at once. Afterwards it ends when the chain shows that its
// authorisation can never settle, and is not reported as cancelled before.
import { describe, expect, it } from 'vitest';
import { createWorld, type FakeJob, viewOf, type World } from '../fixtures/fake-world.ts';
import type { FaultPoint } from './job/phases.ts';
import { cancellationName, releaseName } from './job/record.ts';

/** The cancellation, as the store keeps it. */
function cancel(job: FakeJob): void {
  job.values.set(cancellationName, '{"askedAtMs":1}');
}

/** Runs a job that is cancelled when it reaches a point, and again if that ended its run. */
async function runCancelledAt(world: World, job: FakeJob, where: FaultPoint): Promise<void> {
  await world.run(job, (point) => {
    if (point === where) {
      cancel(job);
    }
  });
}

const beforeRelease: FaultPoint[] = [
  'started',
  'eligibility.entered',
  'manifest.after-store',
  'proving.after-store',
  'release.before-store',
  'release.after-store',
  'signing.after-store',
];

describe('a job that is cancelled before its batch is released', () => {
  it('ends without any work if it had not started [cancel.before-release]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    cancel(job);
    await world.run(job);
    expect(viewOf(job)).toEqual({
      key: 'run-1',
      state: 'failed',
      error: { code: 'cancelled', message: expect.stringContaining('nothing was paid') },
    });
    expect(world.prover.proofs).toBe(0);
    expect(job.values.has(releaseName)).toBe(false);
  });

  it.each([...beforeRelease, 'permit.after-store' as const])(
    'at %s sends nothing [cancel.before-release]',
    async (point) => {
      const world = await createWorld({ permit: true });
      const job = await world.accept();
      await runCancelledAt(world, job, point);
      expect(viewOf(job).error?.code).toBe('cancelled');
      expect(world.platform.posts).toBe(0);
      expect(world.platform.voids).toEqual([]);
    },
  );

  it.each(['approval.after-store', 'approval.sent', 'approval.mined'] as const)(
    'at %s takes its approval back',
    async (point) => {
      const world = await createWorld();
      const job = await world.accept();
      await runCancelledAt(world, job, point);
      expect(viewOf(job).error?.code).toBe('cancelled');
      expect(world.chain.approvals).toEqual([6_000n, 0n]);
      expect(world.chain.allowance).toBe(0n);
      expect(world.platform.posts).toBe(0);
    },
  );

  it('waits while the platform does not say whether another agent has sent it', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    cancel(job);
    world.platform.failCalls(1_000_000);
    await expect(world.run(job)).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(job.state()).not.toBe('failed');
  });

  it('ends done when another agent has paid the key', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept());
    const other = await world.accept();
    cancel(other);
    await world.run(other);
    expect(viewOf(other)).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(world.chain.funds).toBe(1);
  });
});

describe('a job that is cancelled after its batch is released', () => {
  it('is withdrawn by its funder, and ends when a final block shows that [cancel.after-release]', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 30 });
    world.platform.holdBack = true;
    const job = await world.accept();
    const stages: (string | undefined)[] = [];
    const startedAtMs = world.clock.nowMs();
    await world.run(job, (point) => {
      if (point === 'settling.posted') {
        cancel(job);
      }
      stages.push(job.record().stage);
    });
    expect(viewOf(job).error).toEqual({
      code: 'cancelled',
      message: expect.stringContaining('the funder withdrew its authorisation'),
    });
    expect(stages).toContain('cancelling');
    const row = world.platform.rows.get('run-1');
    expect(world.platform.voids[0]).toEqual({
      chain: 'anvil',
      funder: world.funder.address,
      batchNonce: row?.batch.batchNonce,
      signature: job.record().voidSignature,
    });
    // The block is final, not only mined, and the deadline is far in the future.
    expect(world.clock.nowMs() - startedAtMs).toBeGreaterThanOrEqual(30_000);
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(120_000);
    expect(world.chain.funds).toBe(0);
  });

  it('does not resend a batch that could be paid', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.platform.holdBackVoids = true;
    await world.run(job, (point) => {
      if (point === 'settling.released') {
        world.chain.balance = 0n;
        cancel(job);
      }
      if (point === 'void.posted') {
        // The funder has received tokens and the platform has lost its row. The withdrawal stays in effect.
        world.chain.balance = 10n ** 30n;
        world.platform.rows.clear();
      }
    });
    expect(world.platform.posts).toBe(1);
    expect(world.chain.funds).toBe(0);
    expect(viewOf(job).error?.code).toBe('cancelled');
  });

  it('ends done when the batch settles first [cancel.after-release]', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 20 });
    const job = await world.accept();
    await runCancelledAt(world, job, 'settling.posted');
    expect(viewOf(job)).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(world.chain.funds).toBe(1);
  });

  it.each([
    ['the platform does not send the withdrawal', 0],
    ['the platform is down', 1_000_000],
  ])('waits for the deadline while %s [cancel.after-release]', async (_, outages) => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    world.platform.holdBackVoids = true;
    const job = await world.accept();
    await world.run(job, (point) => {
      if (point === 'settling.posted') {
        cancel(job);
        world.platform.failCalls(outages);
      }
      if (point === 'settling.observed') {
        // Before the job ends, the platform must report what it holds.
        world.platform.failCalls(0);
      }
    });
    const { deadline } = JSON.parse(job.values.get(releaseName) ?? '{}') as { deadline: number };
    expect(world.clock.nowMs() / 1000).toBeGreaterThan(deadline);
    expect(viewOf(job).error).toEqual({
      code: 'cancelled',
      message: expect.stringContaining('expired before it was settled'),
    });
  });

  it('takes its approval back', async () => {
    const world = await createWorld();
    world.platform.holdBack = true;
    const job = await world.accept();
    await runCancelledAt(world, job, 'settling.posted');
    expect(viewOf(job).error?.code).toBe('cancelled');
    expect(world.chain.approvals).toEqual([6_000n, 0n]);
    expect(world.chain.allowance).toBe(0n);
  });

  it('is partial when a transaction of this job had reverted', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.platform.beforeInclusion = () => {
      world.chain.balance = 0n;
    };
    await world.run(job, () => {
      if (job.record().revert !== undefined) {
        cancel(job);
      }
    });
    expect(world.platform.voids).toHaveLength(1);
    expect(viewOf(job)).toMatchObject({ state: 'done', result: { status: 'partial' } });
  });

  it.each([
    'settling.released',
    'void.signed',
    'void.after-store',
    'void.posted',
    'settling.observed',
    'result.before-store',
  ] as const)(
    'and crashes at %s, continues to cancel after a restart [cancel.after-release]',
    async (where) => {
      const world = await createWorld({ permit: true, finalityBlocks: 5 });
      world.platform.holdBack = true;
      const job = await world.accept();
      let crashes = 0;
      await expect(
        world.run(job, (point) => {
          if (point === 'settling.released') {
            cancel(job);
          }
          if (point === where) {
            crashes += 1;
            throw new Error('crash');
          }
        }),
      ).rejects.toMatchObject({ code: 'run_interrupted' });
      expect(crashes).toBe(1);
      await world.run(job);
      expect(viewOf(job).error?.code).toBe('cancelled');
      expect(new Set(world.platform.voids.map(({ signature }) => signature)).size).toBeLessThan(2);
      expect(world.chain.funds).toBe(0);
    },
  );
});
