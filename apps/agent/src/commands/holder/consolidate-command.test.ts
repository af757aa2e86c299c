import { bigintToHex32, type Consolidation, PoolError, type SpendReceipt } from '@pool/core';
import { type ConsolidateClient, exitCodes, type Output } from '@pool/pay-run';
import { textOf } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { consolidate } from './consolidate-command.ts';

function receiptOf(status: 'success' | 'reverted' = 'success'): SpendReceipt {
  const facts = { nullifiers: [bigintToHex32(1n)], changeAmount: '9' };
  return { operation: 'transfer', status, txHash: bigintToHex32(7n), ...facts };
}

/** An agent that owes this many steps. */
function createAgent(owed: number, failAt = -1, status: 'success' | 'reverted' = 'success') {
  const calls: object[] = [];
  let left = owed;
  const describeSteps = (): Consolidation => ({
    chain: 'anvil',
    steps: Array.from({ length: left }, (_, index) => ({ notes: 16, amount: `${index + 9}` })),
    seconds: 30 * left,
  });
  const client: ConsolidateClient = {
    async step(request) {
      calls.push(request);
      const answer = describeSteps();
      if (request.dryRun === true || left === 0) {
        return answer;
      }
      if (owed - left === failAt) {
        throw new PoolError('interrupted', 'the agent goes on with the step that is underway');
      }
      left -= 1;
      return { ...answer, receipt: receiptOf(status) };
    },
  };
  return { client, calls };
}

function createOutput(answer?: string) {
  const lines: string[] = [];
  const notes: string[] = [];
  const output: Output = {
    out: (outcome) => void lines.push(textOf(outcome)),
    terminal: { isTty: false, write: (text) => void notes.push(text) },
    ...(answer === undefined ? {} : { ask: async () => answer }),
  };
  return { output, lines, notes };
}

const { signal } = new AbortController();
const request = { token: 'USDC' };
const decimals = 6;

describe('disburse-agent consolidate', () => {
  it('shows steps and time before it sends anything [command.consolidate]', async () => {
    const { client, calls } = createAgent(2);
    const { output, lines } = createOutput();
    const code = await consolidate(client, request, { dryRun: true, decimals }, output, signal);
    expect([code, calls]).toEqual([exitCodes.ok, [{ token: 'USDC', dryRun: true }]]);
    expect(lines).toEqual([
      '2 step(s) until one spend can cover all USDC that is free on anvil, about 1 min 0 s:',
      '  1. 16 note(s) become one of 0.000009 USDC',
      '  2. 16 note(s) become one of 0.00001 USDC',
    ]);
  });

  it.each([1, 3])('performs %i step(s), one after the other, and no more calls', async (owed) => {
    const { client, calls } = createAgent(owed);
    const { output, lines } = createOutput();
    const until = { token: 'USDC', until: '50' };
    expect(await consolidate(client, until, { decimals }, output, signal)).toBe(exitCodes.ok);
    expect(calls).toEqual([
      { ...until, dryRun: true },
      ...Array.from({ length: owed }, () => until),
    ]);
    expect(lines.at(-1)).toContain(`step ${owed}: 16 note(s) became one of 0.000009 USDC`);
  });

  it('asks the agent even if nothing is owed: a step of an earlier run may be open', async () => {
    const { client, calls } = createAgent(0);
    const { output, lines } = createOutput();
    expect(await consolidate(client, request, { decimals }, output, signal)).toBe(exitCodes.ok);
    expect(calls).toHaveLength(2);
    expect(lines).toEqual(['nothing to merge: one spend can cover all USDC that is free on anvil']);
  });

  it('asks on a terminal, and sends nothing without a yes [command.consolidate]', async () => {
    const { client, calls } = createAgent(1);
    await expect(
      consolidate(client, request, { decimals }, createOutput('n').output, signal),
    ).rejects.toMatchObject({ code: 'payment_declined' });
    expect(calls).toHaveLength(1);
    expect(await consolidate(client, request, { decimals }, createOutput('y').output, signal)).toBe(
      0,
    );
    await consolidate(
      createAgent(1).client,
      request,
      { yes: true, decimals },
      createOutput('n').output,
      signal,
    );
  });

  it('ends at an interruption and says how to go on', async () => {
    const { client } = createAgent(3, 1);
    const { output, lines, notes } = createOutput();
    const options = { decimals, json: true };
    expect(await consolidate(client, request, options, output, signal)).toBe(exitCodes.interrupted);
    expect(notes.join('')).toContain('run the same command again');
    expect(lines.map((line) => JSON.parse(line).receipts)).toEqual([[receiptOf()]]);
  });

  it('ends at a step that reverted', async () => {
    const { client, calls } = createAgent(3, -1, 'reverted');
    const { output, lines } = createOutput();
    expect(await consolidate(client, request, { decimals }, output, signal)).toBe(
      exitCodes.partial,
    );
    expect([calls.length, lines.at(-1)]).toEqual([2, expect.stringContaining('step 1 reverted')]);
  });

  it('prints one JSON document with the plan and the receipts', async () => {
    const { output, lines } = createOutput();
    await consolidate(createAgent(2).client, request, { json: true, decimals }, output, signal);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      chain: 'anvil',
      steps: [{ notes: 16 }, { notes: 16 }],
      receipts: [receiptOf(), receiptOf()],
    });
  });
});
