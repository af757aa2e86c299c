// A job whose funder, pool or token was configured differently when it started: it reports that and waits, ends when the chain
// shows its outcome, and is never paid a second time under the new settings.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEvmAddress, Secret } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { createLocalKeySigner } from '@pool/signers';
import { describe, expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { checkDisbursement } from '../check/check-disbursement.ts';
import { createWorld, type FakeJob, viewOf, type World } from '../fixtures/fake-world.ts';
import type { FaultPoint } from './job/phases.ts';
import { cancellationName, createJobView, createRecord, serializeRecord } from './job/record.ts';
import type { DisbursementDeps } from './job/run.ts';
import { type JobEvent, startJobRunner } from './job-runner.ts';

const otherPool = parseEvmAddress('0x00000000000000000000000000000000000000b1');

/** A job that was interrupted at a point, and the settings of an agent whose funder key was rotated since. */
async function createRotated(where: FaultPoint, options = { permit: true }) {
  const world = await createWorld(options);
  world.platform.holdBack = true;
  const job = await world.accept('june');
  await expect(
    world.run(job, (point) => {
      if (point === where) {
        throw new Error('power cut');
      }
    }),
  ).rejects.toMatchObject({ code: 'run_interrupted' });
  const signer = createLocalKeySigner({ privateKey: new Secret(`0x${'43'.repeat(32)}`) });
  const funder = await createFunder(signer);
  return { world, job, rotated: { funder } };
}

async function runBlocked(world: World, job: FakeJob, changes: Partial<DisbursementDeps>) {
  await expect(world.run(job, undefined, changes)).rejects.toMatchObject({
    code: 'run_interrupted',
    blocked: { code: 'configuration_changed' },
  });
}

function cancel(job: FakeJob): void {
  job.values.set(cancellationName, '{"askedAtMs":1}');
}

function passDeadline(world: World): void {
  world.clock.advanceSeconds(2 * 3600);
}

describe('a job that began with another funder', () => {
  it.each(['manifest.after-store', 'signing.after-store', 'settling.posted'] as const)(
    'and was interrupted at %s reports what differs and what to do, and sends nothing',
    async (where) => {
      const { world, job, rotated } = await createRotated(where);
      const posts = world.platform.posts;
      await runBlocked(world, job, rotated);
      expect(createJobView('submitted', job.record()).stage).toBe('configuration-changed');
      const { message } = job.record().blocked ?? { message: '' };
      expect(message).toContain(world.funder.address);
      expect(message).toContain(rotated.funder.address);
      expect(message).toMatch(/restore .* start/i);
      expect(world.platform.posts).toBe(posts);
    },
  );

  it('is finished when the setting is restored, and paid once [cancel.other-settings]', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    await runBlocked(world, job, rotated);
    world.platform.holdBack = false;
    world.platform.rows.clear();
    await world.run(job);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(job.record().blocked).toBeUndefined();
    expect(world.chain.funds).toBe(1);
  });

  it('is done if the batch was mined meanwhile', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    const row = world.platform.rows.get('june')!;
    world.chain.mineFund(row.batch, job.record().permit?.wire);
    await world.run(job, undefined, rotated);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(viewOf(job).result?.notes.map(({ commitment }) => commitment)).not.toContain('0x');
    expect(world.chain.funds).toBe(1);
  });

  it('fails once a final block shows that its authorisation is dead', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    passDeadline(world);
    await world.run(job, undefined, rotated);
    expect(viewOf(job).error).toEqual({
      code: 'settlement_expired',
      message: expect.stringContaining('nothing was paid'),
    });
  });

  it('names the funder whose approval may be left', async () => {
    const { world, job, rotated } = await createRotated('settling.posted', { permit: false });
    passDeadline(world);
    await world.run(job, undefined, rotated);
    expect(viewOf(job).error?.message).toContain(`set the allowance of the pool`);
    expect(viewOf(job).error?.message).toContain(world.funder.address);
    // The new funder's allowance is irrelevant here.
    expect(world.chain.approvals).toEqual([6_000n]);
  });

  it('is settled_elsewhere when another agent has paid the key under the new settings', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    passDeadline(world);
    world.platform.holdBack = false;
    const other = await world.accept('june');
    await world.run(other, undefined, rotated);
    expect(viewOf(other).result?.status).toBe('completed');
    await world.run(job, undefined, rotated);
    expect(viewOf(job).error).toMatchObject({
      code: 'settled_elsewhere',
      message: expect.stringContaining('do not resubmit'),
    });
  });

  it('is cancelled if nothing of it was signed [cancel.other-settings]', async () => {
    const { world, job, rotated } = await createRotated('manifest.after-store');
    cancel(job);
    await world.run(job, undefined, rotated);
    expect(viewOf(job).error).toMatchObject({ code: 'cancelled' });
    expect(world.chain.funds).toBe(0);
  });

  it('is not reported as cancelled while its authorisation can still settle, and records the request [cancel.other-settings]', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    await runBlocked(world, job, rotated);
    expect(job.record().blocked?.isCancelled).toBe(false);
    cancel(job);
    await runBlocked(world, job, rotated);
    expect(job.record().blocked?.isCancelled).toBe(true);
    passDeadline(world);
    await world.run(job, undefined, rotated);
    expect(viewOf(job).error).toMatchObject({ code: 'cancelled' });
  });

  it('waits while the chain does not answer', async () => {
    const { world, job, rotated } = await createRotated('settling.posted');
    passDeadline(world);
    world.chain.failReads(1_000_000);
    await runBlocked(world, job, rotated);
  });
});

describe('a job that began with another pool', () => {
  it.each([false, true])(
    'is not ended by the state of the new pool (cancelled: %s)',
    async (isCancelled) => {
      const { world, job } = await createRotated('settling.posted');
      const settings = { ...world.context.settings, pool: otherPool };
      if (isCancelled) {
        cancel(job);
      }
      passDeadline(world);
      await runBlocked(world, job, { findChain: () => ({ ...world.context, settings }) });
      expect(job.record().blocked?.message).toContain(otherPool);
      expect(job.record().blocked?.isCancelled).toBe(isCancelled);
    },
  );

  it('reports the same if the chain was removed from the configuration', async () => {
    const { world, job } = await createRotated('settling.posted');
    await runBlocked(world, job, { findChain: () => undefined });
    expect(job.record().blocked?.message).toMatch(/chain anvil/);
    expect(job.record().stage).toBe('configuration-changed');
  });
});

it('is reported once by the worker, with its code, and retried at intervals only', async () => {
  const { world, rotated } = await createRotated('started');
  const scope = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
  const store = createMemoryStore();
  const checked = await checkDisbursement(world.createRequest(), world.checks);
  const payload = serializeRecord(createRecord(checked, scope, 'july'));
  const nowMs = world.clock.nowMs();
  await store.claim({ scope, key: 'july', fingerprint: 'f', state: 'accepted', payload, nowMs });
  const runWith = (
    changes: Partial<DisbursementDeps>,
    onFaultPoint: DisbursementDeps['onFaultPoint'],
  ) => {
    const events: JobEvent[] = [];
    const runner = startJobRunner({
      ...{ store, scope, clock: world.clock, workerId: 'w', concurrency: 4, leaseTtlMs: 60_000 },
      ...{ idleMs: 1_000, onEvent: (_key, event) => events.push(event) },
      deps: { ...world.createDeps(onFaultPoint, []), ...changes },
    });
    return { runner, events };
  };
  const first = runWith({}, async (point) => {
    if (point === 'signing.after-store') {
      throw new Error('power cut');
    }
  });
  await expect.poll(() => first.events.some(({ kind }) => kind === 'interrupted')).toBe(true);
  await first.runner.stop();

  let starts = 0;
  const startedAtMs = world.clock.nowMs();
  const second = runWith(rotated, async (point) => {
    starts += point === 'started' ? 1 : 0;
  });
  while (world.clock.nowMs() - startedAtMs < 600_000) {
    await sleep(5);
  }
  const elapsedMinutes = (world.clock.nowMs() - startedAtMs) / 60_000;
  await second.runner.stop();
  expect(second.events.filter(({ kind }) => kind === 'interrupted')).toEqual([
    { kind: 'interrupted', reason: expect.stringContaining('configuration_changed') },
  ]);
  expect(starts).toBeGreaterThan(1);
  expect(starts).toBeLessThanOrEqual(elapsedMinutes + 2);
});
