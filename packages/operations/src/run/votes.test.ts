// A funder whose signer needs a vote (docs/decisions/0015): the job waits durably, the provider has one request for each content,
// and a batch that is given up after it was asked for is withdrawn, never released.
import { parseHex32 } from '@pool/core';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { jobKeyOf } from '../../../wallet/src/fixtures/voting-signer.ts';
import { createWorld, type FakeJob } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import { releaseName } from './job/record.ts';
import type { RunEvent } from './job/run.ts';

const voting = { isVoting: true, permit: true } as const;

function stagesOf(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'stage' ? [event.stage] : []));
}

describe('a vote on a batch', () => {
  it('of four hours is waited for, and the batch is paid with one request and one signature [signer.votes-wait]', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    const events = await runWith(world, job, [
      [14_400, () => world.voting.decide('fund-authorization', 'approve')],
      [15_000, () => world.voting.decide('permit', 'approve')],
    ]);
    expect(job.state()).toBe('done');
    expect(stagesOf(events)).toEqual([
      'eligibility',
      'allowance',
      'proving',
      'signing',
      'awaiting-approval',
      'signing',
      'approving-allowance',
      'awaiting-approval',
      'approving-allowance',
      'signing',
      'approving-allowance',
      'settling',
    ]);
    expect([...world.voting.requests.keys()]).toHaveLength(2);
    expect([...world.voting.signatures.values()]).toEqual([1, 1]);
    expect(world.chain.funds).toBe(1);
  });

  it('gets a deadline that includes the vote, and the file of the batch', async () => {
    const world = await createWorld(voting);
    const job = await world.accept();
    const nowSeconds = world.clock.nowMs() / 1000;
    await world.run(job);
    const { deadline } = JSON.parse(job.values.get(releaseName) ?? '{}');
    expect(deadline - nowSeconds).toBeGreaterThanOrEqual(86_400 + 3_600);
    expect(deadline - nowSeconds).toBeLessThan(86_400 + 3_600 + 1_800);
    const [first, second] = world.voting.files;
    expect(first).toMatchObject({
      version: 1,
      deadline,
      manifest: { kind: 'fund', jobKey: 'run-1' },
    });
    expect(second).toEqual(first);
  });

  it('that is denied fails the job, and nothing is withdrawn', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'deny';
    const job = await world.accept();
    await world.run(job);
    expect(job.record().error).toMatchObject({
      code: 'signer_refused',
      message: expect.stringContaining('it was denied'),
    });
    expect(world.platform.voids).toEqual([]);
    expect(world.voting.countOf('void')).toBe(0);
  });

  it('that expires at the provider fails the job', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'expire';
    const job = await world.accept();
    await world.run(job);
    expect(job.record().error?.code).toBe('signer_expired');
  });

  it('that nobody casts ends before the deadline of the batch, and the request is taken back', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await world.run(job, undefined, { voteLimitSeconds: 900 });
    expect(job.record().error?.code).toBe('signer_expired');
    expect([...world.voting.requests.values()].map(({ outcome }) => outcome?.state)).toEqual([
      'refused',
    ]);
    expect(world.voting.countOf('void')).toBe(0);
  });

  it('survives an outage of hours, and names the reason once', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    const events = await runWith(world, job, [
      [
        60,
        () => {
          world.voting.isDown = true;
        },
      ],
      [
        30_000,
        () => {
          world.voting.isDown = false;
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.state()).toBe('done');
    const retries = events.filter((event) => event.kind === 'retry');
    expect(retries).toEqual([{ kind: 'retry', stage: 'awaiting-approval', code: 'timed_out' }]);
  });

  it('does not hold the lock: a batch that is approved earlier is paid first [signer.votes-wait]', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const jobs = [await world.accept('one'), await world.accept('two')] as const;
    const deps = { turns: world.createDeps(async () => undefined, []).turns };
    const first = world.run(jobs[0], undefined, deps);
    const second = world.run(jobs[1], undefined, deps);
    for (let turn = 0; turn < 200 && world.voting.requests.size < 2; turn += 1) {
      await new Promise(setImmediate);
    }
    const laterKey = [...world.voting.requests.values()].map(({ request }) => jobKeyOf(request))[1];
    world.voting.policy = (kind) => (kind === 'permit' ? 'approve' : 'wait');
    world.voting.decide('fund-authorization', 'approve', laterKey);
    await (laterKey === 'two' ? second : first);
    expect(jobs.map((job) => job.state())).toContain('done');
    world.voting.policy = () => 'approve';
    await Promise.all([first, second]);
    expect(jobs.map((job) => job.state())).toEqual(['done', 'done']);
    expect(world.chain.funds).toBe(2);
  });

  it('signs again only the permit that another batch made stale', async () => {
    const world = await createWorld(voting);
    world.voting.policy = (kind) => (kind === 'permit' ? 'wait' : 'approve');
    const job = await world.accept();
    await runWith(world, job, [
      [
        100,
        () => {
          // Another batch of this funder used the permit nonce meanwhile.
          world.chain.permitNonce += 1n;
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.state()).toBe('done');
    expect(world.voting.countOf('fund-authorization')).toBe(1);
    expect(world.voting.countOf('permit')).toBe(2);
  });

  it('of hours makes the eligibility root stale: the proof is renewed, and the signature is not [signer.votes-wait]', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await runWith(world, job, [
      [
        9_000,
        () => {
          world.chain.refuseRoot(world.gate.root());
          world.gate.admit({
            ...world.holders[0]!,
            walletId: (world.holders[0]!.walletId + 1n) as never,
          });
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.state()).toBe('done');
    expect(world.prover.proofs).toBe(2);
    expect(world.voting.countOf('fund-authorization')).toBe(1);
  });
});

describe('an approval that is voted on', () => {
  it('is asked for once, with the nonce and fees of the first request', async () => {
    const world = await createWorld({ isVoting: true });
    world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
    const job = await world.accept();
    const crashed = world.run(job, (point) => {
      if (point === 'vote.after-store' && world.voting.countOf('token-approval') === 1) {
        throw new Error('crash');
      }
    });
    await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
    world.voting.policy = () => 'approve';
    await world.run(job);
    expect(job.state()).toBe('done');
    expect(world.voting.countOf('token-approval')).toBe(1);
    expect(world.chain.approvals).toEqual([6_000n]);
  });

  it('and that the provider sends itself is found on chain by its hash', async () => {
    const world = await createWorld({ isVoting: true });
    const txHash = parseHex32(`0x${'5e'.repeat(32)}`);
    world.voting.policy = (kind) => (kind === 'token-approval' ? 'send' : 'approve');
    world.voting.send = () => {
      world.chain.mineApproval(6_000n, txHash);
      return txHash;
    };
    const job = await world.accept();
    await world.run(job);
    expect(job.state()).toBe('done');
    expect(job.record().approvals).toEqual([{ value: '6000', txHash, mined: true }]);
    expect(world.chain.approvals).toEqual([6_000n]);
  });

  it('and that the provider sends with higher fees is found by the allowance', async () => {
    const world = await createWorld({ isVoting: true });
    world.voting.policy = (kind) => (kind === 'token-approval' ? 'send' : 'approve');
    world.voting.send = () => {
      world.chain.mineApproval(6_000n, parseHex32(`0x${'6f'.repeat(32)}`));
      return parseHex32(`0x${'5e'.repeat(32)}`);
    };
    const job = await world.accept();
    await world.run(job);
    expect(job.state()).toBe('done');
    expect(world.chain.approvals).toEqual([6_000n]);
  });

  it('is taken back when the job is cancelled meanwhile', async () => {
    const world = await createWorld({ isVoting: true });
    world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
    const job = await world.accept();
    await runWith(world, job, [[300, () => cancel(job)]]);
    expect(job.record().error?.code).toBe('cancelled');
    const states = [...world.voting.requests.values()].map(
      ({ request, outcome }) => `${request.kind} ${outcome?.state}`,
    );
    expect(states).toEqual(['fund-authorization signed', 'token-approval refused', 'void signed']);
    expect(world.chain.approvals).toEqual([]);
  });
});

describe('a batch that is given up after the vote began', () => {
  it('is denied at the provider first, and fails as cancelled [signer.given-up-is-withdrawn]', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await runWith(world, job, [[300, () => cancel(job)]]);
    expect(job.record().error).toMatchObject({ code: 'cancelled' });
    expect(world.voting.countOf('void')).toBe(0);
    expect([...world.voting.signatures.values()]).toEqual([]);
  });

  it('is withdrawn on chain and never released if it turns out to be signed [signer.given-up-is-withdrawn]', async () => {
    const world = await createWorld({ ...voting, finalityBlocks: 30 });
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await runWith(world, job, [
      [
        300,
        () => {
          // The vote ends just before the cancellation is read.
          world.voting.decide('fund-authorization', 'approve');
          cancel(job);
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.record().error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('the funder withdrew its authorisation'),
    });
    expect(job.record().abandoned?.code).toBe('cancelled');
    expect(world.platform.posts).toBe(0);
    // Sent again until it is final, with one signature.
    expect(new Set(world.platform.voids.map(({ signature }) => signature)).size).toBe(1);
    expect(world.chain.funds).toBe(0);
  });

  it('is voided, not released, when the funder no longer has the money', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    await runWith(world, job, [
      [
        5_000,
        () => {
          world.chain.balance = 5_999n;
          world.voting.policy = () => 'approve';
        },
      ],
    ]);
    expect(job.record().error).toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringContaining('the signed batch was not sent, and nothing was paid'),
    });
    expect(world.platform.posts).toBe(0);
    expect(world.platform.voids).toHaveLength(1);
    expect(world.voting.countOf('void')).toBe(1);
  });

  it('watches the chain while the vote on the withdrawal lasts, and needs no vote after the deadline', async () => {
    const world = await createWorld(voting);
    world.voting.policy = (kind) => (kind === 'void' ? 'wait' : 'approve');
    const job = await world.accept();
    world.chain.balance = 6_000n;
    await world.run(
      job,
      (point) => {
        if (point === 'signing.after-store') {
          world.chain.balance = 0n;
        }
      },
      { batchDeadlineSeconds: 600, voteLimitSeconds: 600 },
    );
    expect(job.record().error?.code).toBe('insufficient_balance');
    expect(world.platform.voids).toEqual([]);
    expect(world.platform.posts).toBe(0);
  });

  it('delays no other batch of its funder and token while the vote on the withdrawal lasts', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const jobs = [await world.accept('one'), await world.accept('two')] as const;
    const deps = { turns: createKeyLock(), voteLimitSeconds: 7_200 };
    const first = world.run(jobs[0], undefined, deps);
    await until(() => world.voting.requests.size > 0);
    cancel(jobs[0]);
    world.voting.decide('fund-authorization', 'approve');
    await until(() => jobs[0].record().abandoned !== undefined);
    world.voting.policy = (kind) => (kind === 'void' ? 'wait' : 'approve');
    await world.run(jobs[1], undefined, deps);
    expect(jobs.map((job) => job.state())).toEqual(['submitted', 'done']);
    await first;
    expect(jobs[0].record().error?.code).toBe('cancelled');
    expect(world.chain.funds).toBe(1);
  });

  it('discards a signature that comes after the deadline', async () => {
    const world = await createWorld(voting);
    world.voting.policy = () => 'wait';
    const job = await world.accept();
    world.voting.policy = () => 'wait';
    await world.run(job, (point) => {
      if (point === 'vote.asked' && world.clock.nowMs() / 1000 < deadlineOf(job)) {
        world.clock.advanceSeconds(deadlineOf(job) - world.clock.nowMs() / 1000 + 1);
        world.voting.decide('fund-authorization', 'approve');
        world.voting.policy = () => 'approve';
      }
    });
    expect(job.state()).toBe('failed');
    expect(job.record().signature).toBeUndefined();
    expect(world.platform.posts).toBe(0);
    expect(world.chain.funds).toBe(0);
  });
});

/** Lets the runs of this process go on until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn += 1) {
    await new Promise(setImmediate);
  }
  expect(isSo()).toBe(true);
}

function deadlineOf(job: FakeJob): number {
  return JSON.parse(job.values.get(releaseName) ?? '{}').deadline;
}
