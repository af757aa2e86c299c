// A batch that the platform refuses for its far deadline is given up at once: its funder withdraws it, and nobody is paid hours later.
import type { SettlementRequest } from '@pool/api';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createWorld, viewOf, type WorldOptions } from '../fixtures/fake-world.ts';
import { releaseName } from './job/record.ts';

/** Less than any authorisation asks for. */
const deadlineSeconds = 600;

async function createRefusing(options: WorldOptions = { permit: true, finalityBlocks: 30 }) {
  const world = await createWorld(options);
  world.platform.deadlineSeconds = deadlineSeconds;
  return { world, job: await world.accept() };
}

describe('a batch that is refused for its far deadline', () => {
  it('is sent once and withdrawn, and its job fails once a final block shows that', async () => {
    const { world, job } = await createRefusing();
    const startedAtMs = world.clock.nowMs();
    const stages: (string | undefined)[] = [];
    const events = await world.run(job, () => stages.push(job.record().stage));
    const { deadline } = JSON.parse(job.values.get(releaseName) ?? '{}') as { deadline: number };
    expect(viewOf(job)).toEqual({
      key: 'run-1',
      state: 'failed',
      error: { code: 'deadline_too_far', message: expect.any(String) },
    });
    const message = viewOf(job).error?.message;
    for (const part of [
      new Date(deadline * 1000).toISOString(),
      'nothing was paid',
      'lower DISBURSE_VOTE_LIMIT_SECONDS or DISBURSE_BATCH_DEADLINE_SECONDS of this agent',
      'raise PLATFORM_VOTE_LIMIT_SECONDS',
      'resubmit under a new Idempotency-Key',
      'settlement refused: sign for less time',
      'its permit can still be used until',
    ]) {
      expect(message).toContain(part);
    }
    expect(world.platform.posts).toBe(1);
    expect(new Set(world.platform.voids.map(({ signature }) => signature)).size).toBe(1);
    expect(world.chain.funds).toBe(0);
    expect(stages).toContain('cancelling');
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'refused', code: 'deadline_too_far' }),
    );
    const seconds = (world.clock.nowMs() - startedAtMs) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(30);
    expect(seconds).toBeLessThan(120);
  });

  it('gives its approval back', async () => {
    const { world, job } = await createRefusing({ finalityBlocks: 5 });
    await world.run(job);
    expect(job.record().error?.code).toBe('deadline_too_far');
    expect(world.chain.approvals).toEqual([6_000n, 0n]);
  });

  it('can be paid again under a new key', async () => {
    const { world, job } = await createRefusing();
    await world.run(job);
    world.platform.deadlineSeconds = 7_200;
    const again = await world.accept('run-2');
    await world.run(again);
    expect(viewOf(again)).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(world.chain.funds).toBe(1);
  });

  it('is not sent again although its deadline comes near while its withdrawal waits for a vote', async () => {
    const { world, job } = await createRefusing({ isVoting: true, permit: true });
    world.voting.policy = (kind) => (kind === 'void' ? 'wait' : 'approve');
    await world.run(job, undefined, { voteLimitSeconds: 7_200 });
    expect(job.record().error?.code).toBe('deadline_too_far');
    expect(world.platform.posts).toBe(1);
    expect(world.chain.funds).toBe(0);
  });

  it('delays no other batch of its funder and token while its withdrawal waits for a vote', async () => {
    const { world, job } = await createRefusing({ isVoting: true, permit: true });
    world.voting.policy = (kind) => (kind === 'void' ? 'wait' : 'approve');
    const deps = { turns: createKeyLock(), voteLimitSeconds: 7_200 };
    const running = world.run(job, undefined, deps);
    for (let turn = 0; turn < 5_000 && job.record().abandoned === undefined; turn += 1) {
      await new Promise(setImmediate);
    }
    world.platform.deadlineSeconds = undefined;
    const other = await world.accept('run-2');
    await world.run(other, undefined, deps);
    expect([job.state(), other.state()]).toEqual(['submitted', 'done']);
    await running;
    expect(job.record().error?.code).toBe('deadline_too_far');
    expect(world.chain.funds).toBe(1);
  });

  it('is done if it lands all the same', async () => {
    const { world, job } = await createRefusing();
    let sent: SettlementRequest | undefined;
    const { postSettlement } = world.platform;
    world.platform.postSettlement = async (key, request) => {
      sent = request;
      return await postSettlement(key, request);
    };
    await world.run(job, (point) => {
      if (point === 'batch.abandoned' && sent !== undefined) {
        world.chain.mineFund(sent.batch, sent.permit);
      }
    });
    expect(viewOf(job)).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(world.chain.funds).toBe(1);
    expect(job.record().abandoned?.code).toBe('deadline_too_far');
  });
});
