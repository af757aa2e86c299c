// The real agent, killed with SIGKILL at named points and started again in the same home: every payment
// lands exactly once. `pnpm test:full` goes through every point.
import type { DisburseRequest } from '@pool/core';
import { faultPoints } from '@pool/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import type { Agent } from './processes/agent-process.ts';

/** One or two for each stage, where a crash hurts most. */
const points = [
  'claim.after-store',
  'eligibility.confirmed',
  'allowance.observed',
  'manifest.after-store',
  'proving.after-store',
  'signing.after-store',
  'permit.after-store',
  'settling.released',
  'settling.posted',
  'result.before-store',
];

/** Only a cancelled job passes these (packages/operations/src/run/cancellation.test.ts). */
const onlyCancelled = ['void.signed', 'void.after-store', 'void.posted'];

/** Only a signer that needs a vote passes these (packages/operations/src/run/votes.test.ts). */
const onlyVoted = [
  'vote.before-ask',
  'vote.asked',
  'vote.after-store',
  'vote.withdrawn',
  'batch.abandoned',
];

const otherPoints = ['claim.before-store', ...faultPoints].filter(
  (point) => ![...points, ...onlyCancelled, ...onlyVoted].includes(point),
);

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

const killedAt = isFullRun ? [...points, ...otherPoints] : points;

type Crash = {
  readonly agent: Agent;
  readonly key: string;
  readonly request: DisburseRequest;
  /** Different for every point, to distinguish the payments. */
  readonly amount: bigint;
};

describe('an agent that is killed', () => {
  let stack: TestStack;
  const crashes = new Map<string, Crash>();

  beforeAll(async () => {
    stack = await startTestStack();
    // All of them die before the first is started again, so that their leases run out meanwhile.
    for (const [index, point] of killedAt.entries()) {
      const amount = BigInt(1_000 + index);
      const key = `crash at ${point}`;
      // Only a token without permit is approved by a transaction of its own.
      const token = point.startsWith('approval.') ? 'USDT' : 'USDC';
      const request = { ...stack.createRequest({ 0: amount }), token };
      const agent = await stack.startAgent({
        name: `crash-${point}`,
        env: { NODE_ENV: 'test', DISBURSE_FAULT: point },
      });
      await submit(agent, key, request);
      crashes.set(point, { agent, key, request, amount });
      expect(await agent.process.exited, point).toEqual({ code: undefined, signal: 'SIGKILL' });
    }
  }, 1_800_000);
  afterAll(async () => {
    await stack.end();
  });

  it.each(killedAt)('at %s pays once after a restart', async (point) => {
    const { agent, key, request, amount } = crashes.get(point)!;
    const again = await agent.restart();
    const client = clientOf(again);
    if ((await client.getJob(key)).status === 404) {
      // It died before it had accepted anything, so the caller sends it again.
      expect(point).toBe('claim.before-store');
      await submit(again, key, request);
    }
    const job = await client.waitForJob(key);
    await again.process.stop();

    expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
    const notes = await readReceivedNotes(stack.place, stack.holders[0]!, request.token);
    const received = notes.filter((note) => note.amount === amount);
    expect(received.map(({ txHash }) => txHash)).toEqual([job.result?.batches[0]?.txHash]);
  });

  it('has paid exactly the requested batches and the requested total', async () => {
    expect(await countFundedBatches(stack.place)).toBe(killedAt.length);
    const balances = await Promise.all(
      ['USDC', 'USDT'].map((token) => fetchPoolBalance(stack.place, token)),
    );
    const asked = [...crashes.values()].reduce((sum, { amount }) => sum + amount, 0n);
    expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(asked);
  });
});

/** The agent may die before it answers. */
async function submit(agent: Agent, key: string, request: DisburseRequest): Promise<void> {
  await clientOf(agent)
    .disburse(key, request)
    .catch(() => undefined);
}
