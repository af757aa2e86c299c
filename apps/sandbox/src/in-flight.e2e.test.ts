// Several batches of one funder between their blocks and finality: each goes when a block has the one before, and neither a killed agent
// nor a chain that drops their blocks pays one twice, loses one, or leaves an allowance.
import type { DisburseRequest } from '@pool/core';
import { JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches, fetchAllowance, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import type { AgentClient } from './fixtures/agent-client.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';

/** Longer than the proofs of all batches of a test, also on a busy machine. The tests do not wait for them, they mine them. */
const finalityBlocks = 100;

describe('batches of one funder', () => {
  let stack: TestStack;
  let client: AgentClient;
  let provider: JsonRpcProvider;
  beforeAll(async () => {
    stack = await startTestStack({ finalityBlocks });
    client = stack.client;
    provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    await provider.send('evm_setIntervalMining', [1]);
  });
  afterAll(async () => {
    provider.destroy();
    await stack.end();
  });

  /** Sends a batch of one payment for each amount, and waits until all of them are in blocks that are not final. */
  async function bringIntoBlocks(token: string, amounts: readonly bigint[]): Promise<string[]> {
    const keys = amounts.map((amount) => `${token}-${amount}`);
    for (const [index, amount] of amounts.entries()) {
      const request: DisburseRequest = { ...stack.createRequest({ 0: amount }), token };
      expect((await client.disburse(keys[index]!, request)).status).toBe(202);
    }
    await expectStages(keys, 'awaiting-finality');
    return keys;
  }

  async function expectStages(keys: readonly string[], stage: string): Promise<void> {
    await expect
      .poll(
        async () => {
          const answers = await Promise.all(keys.map((key) => client.getJob(key)));
          return [...new Set(answers.map(({ body }) => body.stage ?? body.state))];
        },
        { interval: 200 },
      )
      .toEqual([stage]);
  }

  /** Ends the wait for finality. */
  async function makeFinal(): Promise<void> {
    await provider.send('anvil_mine', [finalityBlocks]);
  }

  /** @returns the blocks of the batches, in order */
  async function expectPaid(
    token: string,
    keys: readonly string[],
    amounts: readonly bigint[],
  ): Promise<number[]> {
    const jobs = await Promise.all(keys.map((key) => client.waitForJob(key)));
    const notes = await readReceivedNotes(stack.place, stack.holders[0]!, token);
    const paid = notes.filter(({ amount }) => amounts.includes(amount));
    expect(paid.map(({ amount, txHash }) => [amount, txHash]).sort()).toEqual(
      amounts.map((amount, index) => [amount, jobs[index]?.result?.batches[0]?.txHash]).sort(),
    );
    expect(await fetchAllowance(stack.place, token, stack.employer.address)).toBe(0n);
    const receipts = await Promise.all(
      paid.map(({ txHash }) => provider.getTransactionReceipt(txHash)),
    );
    return receipts.map((receipt) => receipt!.blockNumber).sort((a, b) => a - b);
  }

  it.each([
    ['USDC', 'permits'],
    ['USDT', 'approvals'],
  ])('of %s, with %s, wait for finality together, also after a kill', async (token) => {
    const amounts = [11n, 12n, 13n];
    const keys = await bringIntoBlocks(token, amounts);
    await stack.agent.process.kill();
    client = clientOf(await stack.agent.restart());
    await makeFinal();
    const blocks = await expectPaid(token, keys, amounts);
    expect(blocks.at(-1)! - blocks[0]!).toBeLessThan(finalityBlocks);
    expect(new Set(blocks).size).toBe(amounts.length);
  });

  it.each(['USDC', 'USDT'])(
    'of %s are paid once if the chain drops their blocks',
    async (token) => {
      const before = await countFundedBatches(stack.place);
      const amounts = [21n, 22n];
      const start = await provider.getBlockNumber();
      const keys = await bringIntoBlocks(token, amounts);
      // A block that was mined meanwhile would be one of the dropped ones, in place of one with a batch.
      await provider.send('evm_setIntervalMining', [0]);
      const end = await provider.getBlockNumber();
      await provider.send('anvil_reorg', [end - start, []]);
      expect(await countFundedBatches(stack.place)).toBe(before);
      await provider.send('evm_setIntervalMining', [1]);
      await expect
        .poll(
          async () => {
            await provider.send('evm_mine', []);
            return await countFundedBatches(stack.place);
          },
          { interval: 200 },
        )
        .toBe(before + amounts.length);
      await makeFinal();
      await expectPaid(token, keys, amounts);
      expect(await countFundedBatches(stack.place)).toBe(before + amounts.length);
    },
  );

  it('are the only ones that the pool was paid for', async () => {
    for (const token of ['USDC', 'USDT']) {
      expect(await fetchPoolBalance(stack.place, token)).toBe(11n + 12n + 13n + 21n + 22n);
    }
  });
});
