// What still waits for a vote when a job ends is taken back at the signer, so that nobody votes without effect (docs/decisions/0015).
import { Secret } from '@pool/core';
import { createLocalKeySigner } from '@pool/signers';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, type World, type WorldOptions } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';

/** What the provider shows, oldest first. A request that waits has no state. */
function statesOf(world: World): string[] {
  return [...world.voting.requests.values()].map(
    ({ request, outcome }) => `${request.kind} ${outcome?.state ?? 'waits'}`,
  );
}

/** Requests of some kinds wait, and all others are approved. */
async function createWaiting(kinds: readonly string[], options: WorldOptions = {}) {
  const world = await createWorld({ isVoting: true, finalityBlocks: 5, ...options });
  world.voting.policy = (kind) => (kinds.includes(kind) ? 'wait' : 'approve');
  return { world, job: await world.accept() };
}

describe('a request that waits for a vote when its job ends', () => {
  it('is a permit of a cancelled job: it is denied', async () => {
    const { world, job } = await createWaiting(['permit'], { permit: true });
    const events = await runWith(world, job, [[300, () => cancel(job)]]);
    expect(job.record().error?.code).toBe('cancelled');
    expect(statesOf(world)).toEqual(['fund-authorization signed', 'permit refused', 'void signed']);
    expect(events).toContainEqual({ kind: 'withdrawn', request: 'permit' });
  });

  it('is each permit that was asked for and not given', async () => {
    const { world, job } = await createWaiting([], { permit: true });
    let posts = 0;
    const { postSettlement } = world.platform;
    world.platform.postSettlement = async (...args) => {
      posts += 1;
      if (posts === 1) {
        // Another batch used the permit nonce and the money.
        world.chain.permitNonce += 1n;
        world.chain.allowance = 0n;
        world.chain.refuseRoot(world.gate.root());
        world.voting.policy = (kind) => (kind === 'permit' ? 'wait' : 'approve');
      }
      const row = await postSettlement(...args);
      world.chain.acceptRoot(world.gate.root());
      return row;
    };
    await runWith(world, job, [
      [600, () => (world.chain.permitNonce += 1n)],
      [1_200, () => cancel(job)],
    ]);
    expect(job.record().error?.code).toBe('cancelled');
    expect(statesOf(world)).toEqual([
      'fund-authorization signed',
      'permit signed',
      'permit refused',
      'permit refused',
      'void signed',
    ]);
  });

  it('is a withdrawal on chain that the deadline has overtaken: it waits until then, and is denied', async () => {
    const { world, job } = await createWaiting(['void'], { permit: true });
    await world.run(
      job,
      (point) => {
        if (point === 'signing.after-store') {
          world.chain.balance = 0n;
        }
        if (point === 'settling.observed') {
          expect(statesOf(world)).toContain('void waits');
        }
      },
      { batchDeadlineSeconds: 600, voteLimitSeconds: 600 },
    );
    expect(job.record().error?.code).toBe('insufficient_balance');
    expect(statesOf(world)).toEqual(['fund-authorization signed', 'void refused']);
  });

  /** A paid batch whose new approval waits for a vote. @param onPaid - called when another party has paid it */
  async function payWithoutApproval(onPaid: (world: World) => void) {
    const { world, job } = await createWaiting([]);
    let posts = 0;
    const { postSettlement } = world.platform;
    world.platform.postSettlement = async (key, request) => {
      posts += 1;
      if (posts === 1) {
        // Another batch of the funder took the allowance.
        world.chain.allowance = 0n;
        world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
      }
      return await postSettlement(key, request);
    };
    const events = await runWith(world, job, [
      [
        600,
        () => {
          // Somebody gives an allowance, and the relayer tries the batch again.
          world.chain.allowance = 6_000n;
          const row = world.platform.rows.get(job.record().key);
          world.chain.mineFund(row!.batch, undefined);
          onPaid(world);
        },
      ],
    ]);
    expect(job.state()).toBe('done');
    return { world, job, events };
  }

  it('is an approval of a job that is paid: it is denied, and no allowance is left', async () => {
    const { world, job } = await payWithoutApproval(() => undefined);
    expect(statesOf(world)).toEqual([
      'fund-authorization signed',
      'token-approval signed',
      'token-approval refused',
    ]);
    expect(job.record().remainder).toBeUndefined();
  });

  it('is an approval of a paid job whose custodian is down: the job says what to do', async () => {
    const { world, job, events } = await payWithoutApproval(({ voting }) => {
      voting.isDown = true;
    });
    expect(statesOf(world)).toContain('token-approval waits');
    expect(job.record().remainder).toContain('set the allowance of the pool to 0');
    expect(events).toContainEqual({
      kind: 'not-withdrawn',
      request: 'token-approval',
      code: 'timed_out',
    });
  });

  it('is named in the log and waits on if the custodian does not answer, and the job ends', async () => {
    const { world, job } = await createWaiting(['void'], { permit: true });
    const events: unknown[] = [];
    await world.run(
      job,
      (point) => {
        if (point === 'signing.after-store') {
          world.chain.balance = 0n;
        }
        if (point === 'settling.observed') {
          world.voting.isDown = true;
        }
      },
      {
        batchDeadlineSeconds: 600,
        voteLimitSeconds: 600,
        onEvent: (event) => void events.push(event),
      },
    );
    expect(job.record().error?.code).toBe('insufficient_balance');
    expect(statesOf(world)).toEqual(['fund-authorization signed', 'void waits']);
    expect(events).toContainEqual({ kind: 'not-withdrawn', request: 'void', code: 'timed_out' });
  });

  it('is named in the log if another funder is configured now', async () => {
    const { world, job } = await createWaiting(['permit'], { permit: true });
    const crashed = world.run(job, () => {
      if (world.voting.countOf('permit') === 1) {
        throw new Error('power cut');
      }
    });
    await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
    world.clock.advanceSeconds(200_000);
    const signer = createLocalKeySigner({ privateKey: new Secret(`0x${'43'.repeat(32)}`) });
    const events = await world.run(job, undefined, { funder: await createFunder(signer) });
    expect(job.state()).toBe('failed');
    expect(events).toContainEqual({
      kind: 'not-withdrawn',
      request: 'permit',
      code: 'configuration_changed',
    });
  });

  it('delays no other batch of its funder and token while the custodian answers', async () => {
    const { world, job } = await createWaiting(['void'], { permit: true });
    world.platform.holdBack = true;
    const turns = createKeyLock();
    const lock = [
      'allowance',
      world.context.key,
      world.context.settings.tokens['USDC']?.address,
      world.funder.address,
    ].join(' ');
    const taken: [string, boolean][] = [];
    const { withdraw } = world.funder;
    const funder: typeof world.funder = {
      ...world.funder,
      withdraw(request, ...rest) {
        taken.push([request.kind, turns.isTaken(lock)]);
        return withdraw(request, ...rest);
      },
    };
    await world.run(
      job,
      (point) => {
        if (point === 'settling.posted') {
          expect(turns.isTaken(lock)).toBe(true);
          cancel(job);
        }
        const row = world.platform.rows.get(job.record().key);
        if (world.voting.countOf('void') === 1 && row !== undefined && world.chain.funds === 0) {
          world.chain.mineFund(row.batch, job.record().permit?.wire);
        }
      },
      { turns, funder },
    );
    expect(job.state()).toBe('done');
    expect(taken).toEqual([['void', false]]);
  });

  it.each(['vote.withdrawn', 'result.before-store'] as const)(
    'is denied once if the agent dies at %s',
    async (chosen) => {
      const { world, job } = await createWaiting(['permit'], { permit: true });
      let crashes = 0;
      const crashed = world.run(job, (point) => {
        if (world.voting.countOf('permit') === 1) {
          cancel(job);
        }
        if (point === chosen && crashes === 0) {
          crashes += 1;
          throw new Error('crash');
        }
      });
      await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
      await world.run(job);
      expect(job.record().error?.code).toBe('cancelled');
      expect(statesOf(world)).toContain('permit refused');
      expect(world.chain.funds).toBe(0);
    },
  );
});

it('a job that is paid asks its signer for nothing more', async () => {
  const { world, job } = await createWaiting([], { permit: true });
  let asked = 0;
  const { withdraw } = world.funder;
  const funder = {
    ...world.funder,
    withdraw: (...args: Parameters<typeof withdraw>) => {
      asked += 1;
      return withdraw(...args);
    },
  };
  await world.run(job, undefined, { funder });
  expect(job.state()).toBe('done');
  expect(asked).toBe(0);
});
