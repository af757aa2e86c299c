// A roster that is too large for fund-16: a whole payment with circuit, key and proof of fund-64.
import { connectShieldedPool, parsePoolEvent } from '@pool/contracts';
import { JsonRpcProvider } from 'ethers';
import { expect, it } from 'vitest';
import { fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { startTestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

it('fund-64 pays 17 recipients in one batch, and hides their number', async () => {
  await ensureProvingKey('fund-64', createProgress({ stream: process.stdout, plainLines: false }));
  const stack = await startTestStack({ holderCount: 17, provesWhole: true });
  try {
    const amounts = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 10n]));
    await stack.client.disburse('seventeen', stack.createRequest(amounts));
    const job = await stack.client.waitForJob('seventeen', { timeoutMs: 500_000 });
    expect(job.result).toMatchObject({
      status: 'completed',
      batches: [{ recipientCount: 17, status: 'success' }],
    });
    const notes = await readReceivedNotes(stack.place, stack.holders[16]!, 'USDC');
    expect(notes.map(({ amount }) => amount)).toEqual([10n]);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(170n);

    const provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    const txHash = job.result?.batches[0]?.txHash ?? '';
    const receipt = await provider.getTransactionReceipt(txHash);
    expect(await connectShieldedPool(stack.place.contracts.pool, provider).batchCount()).toBe(1n);
    provider.destroy();
    const event = receipt?.logs.map((log) => parsePoolEvent(log)).find(Boolean);
    expect(event?.commitments).toHaveLength(64);
  } finally {
    await stack.end();
  }
});
