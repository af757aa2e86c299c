// A payment that is cancelled, on real processes (docs/decisions/0007).
import { connectErc20, connectShieldedPool } from '@pool/contracts';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveRoleKey } from './chain/sandbox-keys.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

describe('a payment that is cancelled', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack();
  });
  afterAll(async () => {
    await stack.end();
  });

  it('before its batch was sent ends at once, and moves nothing [cancel.before-release]', async () => {
    const { client, place } = stack;
    // The job waits for the gate.
    await stack.gate.process.stop();
    await client.disburse('early', stack.createRequest({ 0: 70n }));
    await expect.poll(async () => (await client.getJob('early')).body.stage).toBe('eligibility');
    const answer = await client.cancel('early');
    expect(answer).toEqual({
      status: 200,
      body: {
        key: 'early',
        state: 'failed',
        error: { code: 'cancelled', message: expect.stringContaining('nothing was paid') },
      },
    });
    await stack.gate.restart();
    expect(await client.cancel('early')).toEqual(answer);
    expect((await client.cancel('never')).status).toBe(404);
    expect(await countFundedBatches(place)).toBe(0);
    expect(await fetchPoolBalance(place, 'USDC')).toBe(0n);
  });

  it('cannot be cancelled after it is paid, and the answer says so', async () => {
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

  it('after it was refused for missing tokens is withdrawn by its funder, and never paid [cancel.after-release]', async () => {
    const { client, place, employer, rpcUrl } = stack;
    const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1 });
    try {
      // A paused pool refuses the batch once it is signed; meanwhile the funder's tokens go elsewhere.
      const guardian = new Wallet(deriveRoleKey('guardian').reveal(), provider);
      await (await connectShieldedPool(place.contracts.pool, guardian).pauseFunding()).wait();
      await client.disburse('refused', stack.createRequest({ 0: 70n }));
      await expect
        .poll(async () => (await client.getJob('refused')).body.stage, {
          interval: 100,
        })
        .toBe('settlement-refused');
      const funder = new Wallet(employer.privateKey, provider);
      const usdc = connectErc20(place.tokens['USDC']!.address, funder);
      const funds = await usdc.balanceOf(employer.address);
      await (await usdc.transfer(stack.holders[5]!.address, funds)).wait();

      expect(await client.cancel('refused')).toMatchObject({
        status: 200,
        body: { state: 'failed', error: { code: 'cancelled' } },
      });
      expect(await countFundedBatches(place)).toBe(1);
      expect(await fetchPoolBalance(place, 'USDC')).toBe(70n);
    } finally {
      provider.destroy();
    }
  });
});
