// What counts as the end of a vote (docs/decisions/0015): only the answer of the provider, never the state of this side.
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import { serializeRecord } from './job/record.ts';

const voting = { isVoting: true, permit: true } as const;

function setMisconfigured(world: World, isSo: boolean): void {
  world.voting.isMisconfigured = isSo;
}

describe('a vote that this side refuses to ask for', () => {
  it('fails the job at the first question', async () => {
    const world = await createWorld(voting);
    world.voting.isMisconfigured = true;
    const job = await world.accept();
    await world.run(job);
    expect(job.record().error?.code).toBe('signer_refused');
    expect(world.voting.requests.size).toBe(0);
  });

  it('is an outage later: the request that was sent is waited for, and paid', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    const events = await runWith(world, job, [
      [300, () => setMisconfigured(world, true)],
      [
        900,
        () => {
          setMisconfigured(world, false);
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.state()).toBe('done');
    expect(events).toContainEqual({
      kind: 'retry',
      stage: 'awaiting-approval',
      code: 'signer_refused',
    });
  });

  it('is still taken back when the job is cancelled', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await runWith(world, job, [
      [
        300,
        () => {
          setMisconfigured(world, true);
          cancel(job);
        },
      ],
      [900, () => setMisconfigured(world, false)],
    ]);
    expect(job.record().error?.code).toBe('cancelled');
    const [request] = world.voting.requests.values();
    expect(request?.outcome?.state).toBe('refused');
  });

  it('on an approval leaves no approval behind', async () => {
    const world = await createWorld({ isVoting: true });
    const job = await world.accept();
    const crashed = world.run(job, (point) => {
      if (point === 'signing.after-store') {
        setMisconfigured(world, true);
      } else if (point === 'batch.abandoned') {
        throw new Error('crash');
      }
    });
    await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
    await runWith(world, job, [[300, () => cancel(job)]]);
    const { error } = job.record();
    expect(error?.code).toBe('signer_refused');
    expect(error?.message).not.toContain('could not be taken back');
  });

  it('and that had ended counts again from its next question', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    const crashed = world.run(job, (point) => {
      if (point === 'vote.after-store') {
        throw new Error('crash');
      }
    });
    await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
    const record = job.stored();
    const phase = {
      ...record.phase,
      votes: job.record().votes?.map((vote) => ({ ...vote, hasEnded: true as const })),
    } as typeof record.phase;
    await job.journal.save('submitted', serializeRecord({ ...record, phase }));
    await runWith(world, job, [[300, () => cancel(job)]]);
    expect(job.record().error?.code).toBe('cancelled');
    const [request] = world.voting.requests.values();
    expect(request?.outcome?.state).toBe('refused');
  });
});

describe('a question that was cut off', () => {
  it('may arrive late: the request is denied when the provider shows it, and only then the job fails', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    world.voting.isLate = true;
    const job = await world.accept();
    const { lateCreates } = world.voting;
    const clock = {
      ...world.clock,
      async sleep(...args: Parameters<typeof world.clock.sleep>) {
        if (lateCreates.length > 0) {
          throw new Error('power cut');
        }
        await world.clock.sleep(...args);
      },
    };
    await expect(world.run(job, undefined, { clock })).rejects.toMatchObject({
      code: 'run_interrupted',
    });
    expect([lateCreates.length, world.voting.requests.size]).toEqual([1, 0]);
    cancel(job);
    await runWith(world, job, [[30, () => lateCreates[0]?.()]]);
    expect(job.record().error?.code).toBe('cancelled');
    const [request] = world.voting.requests.values();
    expect(request?.outcome?.state).toBe('refused');
  });
});
