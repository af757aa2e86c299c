// The real agent, killed with SIGKILL at named points and started again in the same home: every payment
// lands exactly once. `pnpm test:full` goes through every point.
import { faultPoints } from '@pool/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentAnswer } from './agent-client.ts';
import { countFundedBatches, fetchPoolBalance } from './chain-facts.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { readReceivedNotes } from './received-notes.ts';

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

const otherPoints = ['claim.before-store', ...faultPoints].filter(
  (point) => !points.includes(point),
);

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

describe('an agent that is killed', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack();
  });
  afterAll(async () => {
    await stack.end();
  });

  it.each(isFullRun ? [...points, ...otherPoints] : points)(
    'at %s pays exactly once',
    async (point) => {
      const before = await countFundedBatches(stack.place);
      // Only a token without permit is approved by a transaction of its own.
      const token = point.startsWith('approval.') ? 'USDT' : 'USDC';
      const balance = await fetchPoolBalance(stack.place, token);
      const amount = BigInt(1_000 + before);
      const key = `crash at ${point}`;
      const request = { ...stack.createRequest({ 0: amount }), token };

      const agent = await stack.startAgent({
        name: `crash-${point}`,
        env: { NODE_ENV: 'test', DISBURSE_FAULT: point },
      });
      const submit = async (client = clientOf(agent)): Promise<AgentAnswer | undefined> =>
        await client.disburse(key, request).catch(() => undefined);
      await submit();
      expect(await agent.process.exited).toEqual({ code: undefined, signal: 'SIGKILL' });

      const again = await agent.restart();
      const client = clientOf(again);
      if ((await client.getJob(key)).status === 404) {
        // It died before it had accepted anything, so the caller asks again.
        expect(point).toBe('claim.before-store');
        await submit(client);
      }
      const job = await client.waitForJob(key);
      await again.process.stop();

      expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
      expect(await countFundedBatches(stack.place)).toBe(before + 1);
      expect(await fetchPoolBalance(stack.place, token)).toBe(balance + amount);
      const notes = await readReceivedNotes(stack.place, stack.holders[0]!, token);
      expect(notes.filter((note) => note.amount === amount)).toHaveLength(1);
    },
  );
});
