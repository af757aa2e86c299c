// A payment that is taken back, on the real processes (docs/decisions/0019).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

describe('a payment that is cancelled', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack();
  });
  afterAll(async () => {
    await stack.end();
  });

  it('before its batch has left ends at once, and moves nothing', async () => {
    const { client, place } = stack;
    await client.disburse('early', stack.createRequest({ 0: 70n }));
    await expect
      .poll(async () => (await client.getJob('early')).body.stage, {
        timeout: 60_000,
        interval: 20,
      })
      .toMatch(/eligibility|allowance|proving/);
    const answer = await client.cancel('early');
    expect(answer).toEqual({
      status: 200,
      body: {
        key: 'early',
        state: 'failed',
        error: { code: 'cancelled', message: expect.stringContaining('nothing was paid') },
      },
    });
    expect(await client.cancel('early')).toEqual(answer);
    expect((await client.cancel('never')).status).toBe(404);
    expect(await countFundedBatches(place)).toBe(0);
    expect(await fetchPoolBalance(place, 'USDC')).toBe(0n);
  });

  it('is no longer possible once it is paid, and the answer says so', async () => {
    const { client, place } = stack;
    await client.disburse('late', stack.createRequest({ 0: 70n }));
    await client.waitForJob('late');
    const answer = await client.cancel('late');
    expect(answer).toMatchObject({
      status: 200,
      body: { state: 'done', result: { status: 'completed' } },
    });
    expect(await countFundedBatches(place)).toBe(1);
  });
});
