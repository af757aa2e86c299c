// `disburse-agent cancel`: output and exit code for each outcome of a job.
import { type DisbursementJob, PoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { cancelPayRun, cancelThrough } from './cancel.ts';

const running: DisbursementJob = { key: 'k', state: 'submitted', stage: 'settlement-refused' };
const cancelled: DisbursementJob = {
  key: 'k',
  state: 'failed',
  error: { code: 'cancelled', message: 'the job was cancelled: nothing was paid' },
};
const failed: DisbursementJob = {
  key: 'k',
  state: 'failed',
  error: { code: 'insufficient_balance', message: 'too little' },
};
function ended(status: 'completed' | 'partial'): DisbursementJob {
  return {
    key: 'k',
    state: 'done',
    result: {
      status,
      batches: [
        {
          index: 0,
          txHash: '0xabc',
          recipientCount: 1,
          status: status === 'completed' ? 'success' : 'failed',
        },
      ],
      notes: [],
      skipped: [],
      allowance: { state: 'sufficient' },
    },
  };
}

async function run(before: DisbursementJob, answers: (DisbursementJob | PoolError)[]) {
  const out: string[] = [];
  const written: string[] = [];
  const left = [...answers];
  const code = await cancelThrough(
    {
      job: async () => before,
      async cancel() {
        const answer = left.shift();
        if (answer === undefined || answer instanceof PoolError) {
          throw answer ?? new Error('asked too often');
        }
        return answer;
      },
    },
    'k',
    {},
    {
      out: (text) => out.push(text),
      terminal: { isTty: false, write: (text) => written.push(text) },
    },
  );
  return { code, out: out.join('\n'), written: written.join(''), left };
}

it.each([
  ['cancelled', cancelled, 0, 'nothing was paid'],
  ['paid first', ended('completed'), 7, 'not cancelled: the batch was PAID, in 0xabc'],
  ['reverted', ended('partial'), 4, 'nothing was paid: the transaction 0xabc reverted'],
  ['failed by itself', failed, 3, 'failed: insufficient_balance: too little'],
])('reports the outcome of a job that was %s', async (_, job, code, text) => {
  const result = await run(running, [job]);
  expect(result.code).toBe(code);
  expect(result.out).toContain(text);
  expect(result.written).toContain('Ctrl-C ends the waiting, not the cancellation');
});

it('asks again when the answer takes longer than one request, or the agent is restarted', async () => {
  const away = new PoolError('agent_unreachable', 'away');
  const result = await run(running, [away, cancelled]);
  expect(result.code).toBe(0);
  expect(result.left).toEqual([]);
});

it('does not cancel a job that had already ended, and reports it', async () => {
  const result = await run(ended('completed'), []);
  expect(result.code).toBe(7);
  expect(result.out).toContain('the job had already ended, so there was nothing to cancel');
});

it('reports an unknown key', async () => {
  const unknown = new PoolError('not_found', 'never seen');
  await expect(run(running, [unknown])).rejects.toMatchObject({ code: 'not_found' });
});

it('cancels the open parts of a pay run by its label, and only those', async () => {
  const since = { attempt: 1, sinceMs: 0 } as const;
  const record = {
    digest: `0x${'5c'.repeat(32)}`,
    parts: [
      { ...since, sent: 'accepted' as const },
      { ...since, sent: 'accepted' as const },
      { ...since, sent: 'no' as const },
    ],
  };
  const found = { chain: 'base', token: 'USDC', payRun: 'june', record };
  const cancels: string[] = [];
  const written: string[] = [];
  const jobs = [{ ...ended('completed'), key: 'a' }, { ...running, key: 'b' }, undefined];
  const client = {
    find: async (key: string) => jobs[Number(/-([123])of3-/.exec(key)?.[1] ?? 9) - 1],
    job: async () => running,
    cancel: async (key: string) => {
      cancels.push(key);
      return cancelled;
    },
  };
  const output = {
    out: () => undefined,
    terminal: { isTty: false, write: (text: string) => void written.push(text) },
  };
  expect(await cancelPayRun(client, [found], {}, output)).toBe(0);
  expect(cancels).toEqual([expect.stringMatching(/^june-2of3-/)]);
  expect(written[0]).toContain('part 1: it had ended: paid');
  expect(written.at(-1)).toContain('part 3: the agent has no job');
  await expect(
    cancelPayRun(client, [found, { ...found, chain: 'other' }], {}, output),
  ).rejects.toMatchObject({ message: expect.stringContaining('--chain') });
});
