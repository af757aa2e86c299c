// A settlement that reverts on chain because balances changed between the relayer's simulation and the block (protocol
// §8, late landing): nothing is reported as final before the authorisation is dead.
import { connectErc20 } from '@pool/contracts';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

describe('a settlement that reverts', () => {
  let stack: TestStack;
  let provider: JsonRpcProvider;
  beforeAll(async () => {
    stack = await startTestStack();
    provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
  });
  afterAll(async () => {
    provider.destroy();
    await stack.end();
  });

  const send = async (method: string, ...params: unknown[]): Promise<unknown> =>
    await provider.send(method, params);

  async function findPendingFund(): Promise<string | undefined> {
    const { pending } = (await send('txpool_content')) as {
      pending: Record<string, Record<string, { to: string | null; hash: string }>>;
    };
    const pool = stack.place.contracts.pool.toLowerCase();
    return Object.values(pending)
      .flatMap((transactions) => Object.values(transactions))
      .find(({ to }) => to?.toLowerCase() === pool)?.hash;
  }

  it('stays submitted until its authorisation is dead, then is done and partial [job.states, result.partial, failure.partial]', async () => {
    const { client, place, employer } = stack;
    // No block from here on: the relayer simulates, sends, and waits.
    await send('evm_setIntervalMining', 0);
    await client.disburse('reverted', stack.createRequest({ 0: 70n, 1: 30n }));
    const pendingHash = await expectPending();
    const funder = new Wallet(employer.privateKey, provider);
    const usdc = connectErc20(place.tokens['USDC']!.address, funder);
    const funds = await usdc.balanceOf(employer.address);
    const dodge = await usdc.transfer(stack.holders[5]!.address, funds, {
      gasLimit: 100_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    });
    await send('evm_mine');
    const receipt = await provider.getTransactionReceipt(pendingHash);
    expect((await provider.getTransactionReceipt(dodge.hash))?.status).toBe(1);
    expect(receipt?.status).toBe(0);
    await send('evm_setIntervalMining', 1);

    // The revert is final after a few blocks, but the authorisation could still land.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    expect((await client.getJob('reverted')).body).toMatchObject({ state: 'submitted' });

    await send('evm_increaseTime', 2 * 3600);
    const job = await client.waitForJob('reverted');
    expect(job).toMatchObject({
      state: 'done',
      result: {
        status: 'partial',
        batches: [
          {
            index: 0,
            txHash: pendingHash,
            recipientCount: 2,
            status: 'failed',
            error: {
              code: 'erc20-insufficient-balance',
              message: "The funder's token balance is smaller than the total.",
            },
          },
        ],
        notes: [
          { requestIndex: 0, amount: '70', status: 'failed' },
          { requestIndex: 1, amount: '30', status: 'failed' },
        ],
        // As seen before proving; the permit that went with the batch changed nothing about it.
        allowance: { state: 'insufficient' },
      },
    });
    expect(job.result?.notes).toHaveLength(2);
    expect(job.error).toBeUndefined();
    expect(await countFundedBatches(place)).toBe(0);
    expect(await fetchPoolBalance(place, 'USDC')).toBe(0n);
    expect(await readReceivedNotes(place, stack.holders[0]!, 'USDC')).toEqual([]);
  });

  async function expectPending(): Promise<string> {
    let hash: string | undefined;
    await expect
      .poll(
        async () => {
          hash = await findPendingFund();
          return hash;
        },
        { interval: 50 },
      )
      .toBeDefined();
    return hash ?? '';
  }
});
