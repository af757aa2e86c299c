// While nobody can vote, because the signer or the approve process does not answer: the job says so, while it waits and at its end.
import { describe, expect, it } from 'vitest';
import { createWorld } from '../fixtures/fake-world.ts';
import { runWith } from '../fixtures/run-with.ts';

const voting = { isVoting: true, permit: true } as const;
const limits = { voteLimitSeconds: 900 };

describe('an outage during a vote', () => {
  it('is in the record while it lasts, and gone with the next answer', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    const seen: unknown[] = [];
    await runWith(world, job, [
      [
        60,
        () => {
          world.voting.isDown = true;
        },
      ],
      [
        600,
        () => {
          seen.push(job.record().outage);
          world.voting.isDown = false;
        },
      ],
      [
        700,
        () => {
          seen.push(job.record().outage);
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(seen).toEqual([
      { code: 'timed_out', message: 'the custodian does not answer' },
      undefined,
    ]);
    expect(job.state()).toBe('done');
  });

  it('that lasts until the deadline is named instead of the vote', async () => {
    const world = await createWorld(voting);
    const job = await world.accept();
    world.voting.isDown = true;
    await world.run(job, undefined, limits);
    expect(job.record().error).toMatchObject({
      code: 'signer_expired',
      message: expect.stringMatching(
        /timed_out: the custodian does not answer.*correct that first/,
      ),
    });
  });

  it('that has ended does not explain a vote that nobody casts', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    world.voting.isDown = true;
    const job = await world.accept();
    const startMs = world.clock.nowMs();
    const clock = {
      ...world.clock,
      async sleep(...args: Parameters<typeof world.clock.sleep>) {
        await world.clock.sleep(...args);
        world.voting.isDown = world.clock.nowMs() - startMs < 60_000;
      },
    };
    await world.run(job, undefined, { ...limits, clock });
    expect(job.record().error).toMatchObject({
      code: 'signer_expired',
      message: expect.stringContaining('approve it in time'),
    });
  });

  it('is told to a run that did not see it begin', async () => {
    const world = await createWorld(voting);
    world.voting.isDown = true;
    const job = await world.accept();
    const clock = {
      ...world.clock,
      sleep: () => Promise.reject(new Error('the agent stops')),
    };
    await expect(world.run(job, undefined, { clock })).rejects.toMatchObject({
      code: 'run_interrupted',
    });
    expect(job.record().outage?.code).toBe('timed_out');
    world.voting.isDown = false;
    await world.run(job);
    expect(job.state()).toBe('done');
    expect(job.record().outage).toBeUndefined();
  });
});
