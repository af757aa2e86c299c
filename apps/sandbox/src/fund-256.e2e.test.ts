// A roster that is too large for fund-64: a whole payment with circuit, key and proof of fund-256. Its key alone takes
// minutes and gigabytes to make, so this is for full runs.
import { readFileSync } from 'node:fs';
import { connectShieldedPool, parsePoolEvent } from '@pool/contracts';
import { JsonRpcProvider } from 'ethers';
import { beforeAll, describe, expect, it } from 'vitest';
import { fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const recipientCount = 65;

describe.skipIf(!isFullRun)('fund-256', () => {
  beforeAll(
    () =>
      ensureProvingKey('fund-256', createProgress({ stream: process.stdout, plainLines: false })),
    1_800_000,
  );

  it('pays 65 recipients in one batch, within memory limits and deadlines, and hides their number', async () => {
    const stack = await startTestStack({ holderCount: recipientCount });
    try {
      await paysAll(stack);
      const trace = await fetchTrace(stack, 'sixty-five');
      const peakBytes = readPeakMemory(stack.agent.process.identity.pid);
      process.stdout.write(
        `fund-256: ${JSON.stringify(trace)}, agent at most ${(peakBytes ?? 0) / 1e9} GB\n`,
      );
      // Twice what it needs; the prover's own budget is half of the machine.
      expect(peakBytes ?? 0).toBeLessThan(4 * 2 ** 30);
      // A main thread that is blocked for seconds loses its job's lease, and the job starts over.
      expect(stack.readLogs()).not.toMatch(/job was interrupted|job tries again/);
    } finally {
      await stack.end();
    }
  }, 1_800_000);
});

async function paysAll(stack: TestStack): Promise<void> {
  const amounts = Object.fromEntries(
    Array.from({ length: recipientCount }, (_, index) => [index, 10n]),
  );
  const accepted = await stack.client.disburse('sixty-five', stack.createRequest(amounts));
  expect(accepted.status).toBe(202);
  const job = await stack.client.waitForJob('sixty-five', { timeoutMs: 1_500_000 });
  expect(job.result).toMatchObject({
    status: 'completed',
    batches: [{ recipientCount, status: 'success' }],
  });
  for (const index of [0, recipientCount - 1]) {
    const notes = await readReceivedNotes(stack.place, stack.holders[index]!, 'USDC');
    expect(notes.map(({ amount }) => amount)).toEqual([10n]);
  }
  expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(10n * BigInt(recipientCount));

  const provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
  const receipt = await provider.getTransactionReceipt(job.result?.batches[0]?.txHash ?? '');
  expect(await connectShieldedPool(stack.place.contracts.pool, provider).batchCount()).toBe(1n);
  provider.destroy();
  const event = receipt?.logs.map((log) => parsePoolEvent(log)).find(Boolean);
  expect(event?.commitments).toHaveLength(256);
}

/** Seconds per stage and gas, as the agent's own command line shows them. */
async function fetchTrace(stack: TestStack, key: string): Promise<unknown> {
  const { url, loopbackToken } = stack.agent;
  const headers = { authorization: `Bearer ${loopbackToken}` };
  return (await fetch(`${url}/api/disburse/${key}/trace`, { headers })).json();
}

/** The most memory that a process has used, in bytes; undefined where the system has no /proc. */
function readPeakMemory(pid: number): number | undefined {
  try {
    const kibibytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
