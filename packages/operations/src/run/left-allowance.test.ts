// A batch that was not paid can leave an allowance of the pool over the funder's tokens. The job reports
// it, with what to do about it.
import { describe, expect, it } from 'vitest';
import { createWorld, viewOf } from '../fixtures/fake-world.ts';
import { cancellationName } from './job/record.ts';

async function cancelReleased(onVoid: (world: Awaited<ReturnType<typeof createWorld>>) => void) {
  const world = await createWorld({ permit: true, finalityBlocks: 2 });
  world.platform.holdBack = true;
  const job = await world.accept();
  await world.run(job, (point) => {
    if (point === 'settling.posted') {
      job.values.set(cancellationName, '{"askedAtMs":1}');
    }
    if (point === 'void.posted') {
      onVoid(world);
    }
  });
  expect(viewOf(job).error?.code).toBe('cancelled');
  return { job, message: viewOf(job).error?.message ?? '' };
}

describe('the permit of a batch that was cancelled after its release', () => {
  it('is reported while anyone who saw it can still use it', async () => {
    const { job, message } = await cancelReleased(() => undefined);
    const { deadline = 0 } = job.record().permit?.wire ?? {};
    expect(message).toContain('nothing was paid');
    expect(message).toContain(`until ${new Date(deadline * 1000).toISOString()}`);
    expect(message).toContain('set the allowance of the pool to 0');
  });

  it('is reported after its use, with the remaining allowance', async () => {
    const { message } = await cancelReleased(({ chain }) => {
      chain.permitNonce += 1n;
      chain.allowance = 6_000n;
    });
    expect(message).toMatch(
      /allowance of 0\.006 USDC \(6000 base units\).*set the allowance of the pool to 0/,
    );
  });

  it('is not reported if no allowance remains', async () => {
    const { message } = await cancelReleased(({ chain }) => {
      chain.permitNonce += 1n;
    });
    expect(message).not.toContain('allowance');
  });
});

it('gives no new approval for a batch that lands while its allowance is read', async () => {
  const world = await createWorld({ finalityBlocks: 5 });
  const job = await world.accept();
  const { chain, platform } = world;
  platform.beforeInclusion = () => {
    platform.beforeInclusion = undefined;
    chain.balance = 0n;
  };
  const { fetchAllowance } = chain;
  chain.fetchAllowance = async (...asked) => {
    const row = platform.rows.get('run-1');
    if (row?.state === 'reverted' && chain.funds === 0) {
      // A transaction that the platform held for lost.
      chain.mineFund(row.batch, undefined);
    }
    return fetchAllowance(...asked);
  };
  await world.run(job, undefined, {
    onEvent: ({ kind }) => {
      if (kind === 'refused') {
        chain.balance = 10n ** 30n;
      }
    },
  });
  expect(viewOf(job).result?.status).toBe('completed');
  expect(chain.funds).toBe(1);
  expect(chain.approvals).toHaveLength(1);
  expect(chain.allowance).toBe(0n);
});

it('reports an approval that could not be taken back, even if another agent made the payment', async () => {
  const world = await createWorld({ permit: true });
  await world.run(await world.accept());
  const approving = await createWorld();
  const second = await approving.accept();
  await expect(
    approving.run(
      second,
      (point) => {
        if (point === 'approval.mined') {
          throw new Error('power cut');
        }
      },
      // A batch other than the first agent's.
      { randomBytes: (length) => new Uint8Array(length).fill(7) },
    ),
  ).rejects.toMatchObject({ code: 'run_interrupted' });
  const chain = {
    ...world.chain,
    fetchReceipt: approving.chain.fetchReceipt,
    prepareApproval: () => Promise.reject(new Error('no node')),
    fetchAllowance: async () => 6_000n,
  };
  await world.run(second, undefined, { findChain: () => ({ ...world.context, chain }) });
  expect(viewOf(second).result?.status).toBe('completed');
  expect(second.record().remainder).toContain('set the allowance of the pool to 0');
});
