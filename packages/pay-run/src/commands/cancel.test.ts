// `disburse-agent cancel`: output and exit code for each outcome of a job.
import { type DisbursementJob, PoolError } from '@pool/core';
import { textOf } from '@pool/testkit';
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
      out: (outcome) => out.push(textOf(outcome)),
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

const since = { attempt: 1, sinceMs: 0 } as const;
const found = {
  chain: 'base',
  token: 'USDC',
  payRun: 'june',
  record: {
    digest: `0x${'5c'.repeat(32)}`,
    parts: [
      { ...since, sent: 'accepted' as const },
      { ...since, sent: 'accepted' as const },
      { ...since, sent: 'no' as const },
      { ...since, sent: 'accepted' as const },
    ],
  },
};

/** An agent with the jobs of the parts; it cancels part 2, and part 4 is paid before it can be cancelled. */
function createPartsAgent() {
  const jobs = [{ ...ended('completed') }, running, undefined, running].map(
    (job, index) => job && { ...job, key: String(index + 1) },
  );
  const cancels: string[] = [];
  /** Keys of the first attempt: no part was sent again. */
  const first: string[] = [];
  const indexOf = (key: string): number => Number(/-([1-4])of4-/.exec(key)?.[1]) - 1;
  let release: () => void;
  const bothAsked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const client = {
    async find(key: string) {
      const index = indexOf(key);
      first[index] ??= key;
      return first[index] === key ? jobs[index] : undefined;
    },
    job: async () => running,
    async cancel(key: string) {
      cancels.push(key);
      if (cancels.length === 2) {
        release();
      }
      // Fails the test by its time-out if one part waits for another.
      await bothAsked;
      const index = indexOf(key);
      const job = { ...(index === 1 ? cancelled : ended('completed')), key: String(index + 1) };
      jobs[index] = job;
      return job;
    },
  };
  return { client, cancels };
}

function createOutput(answer?: string) {
  const out: string[] = [];
  const written: string[] = [];
  const output = {
    out: (outcome: string | object) => void out.push(textOf(outcome)),
    terminal: { isTty: false, write: (text: string) => void written.push(text) },
    ...(answer === undefined ? {} : { ask: async () => answer }),
  };
  return { output, out, written };
}

it('cancels the open parts of a pay run by its label, all at once, and says what was not stopped', async () => {
  const { client, cancels } = createPartsAgent();
  const { output, out } = createOutput();
  expect(await cancelPayRun(client, [found], {}, output)).toBe(7);
  expect(cancels).toEqual([/^june-2of4-/, /^june-4of4-/].map((key) => expect.stringMatching(key)));
  const text = out.join('\n');
  expect(text).toContain('june, part 1: it had ended: paid');
  expect(text).toContain('june, part 2: the job was cancelled: nothing was paid');
  expect(text).toContain('june, part 3: the agent has no job');
  expect(text).toContain('june, part 4: not cancelled: the batch was PAID');
});

it('prints one document of a pay run, and cancels nothing again when it is run twice', async () => {
  const { client, cancels } = createPartsAgent();
  const outcomes: string[][] = [];
  for (const _ of [1, 2]) {
    const { output, out } = createOutput();
    await cancelPayRun(client, [found], { json: true }, output);
    const document = JSON.parse(out.join('')) as { parts: readonly { outcome: string }[] };
    expect(document).toMatchObject({ payRun: 'june', chain: 'base', token: 'USDC' });
    outcomes.push(document.parts.map(({ outcome }) => outcome));
  }
  expect(outcomes).toEqual([
    ['had-ended', 'cancelled', 'not-sent', 'paid'],
    ['had-ended', 'had-ended', 'not-sent', 'had-ended'],
  ]);
  expect(cancels).toHaveLength(2);
});

it('asks first where somebody can answer, and cancels nothing without a yes', async () => {
  const { client, cancels } = createPartsAgent();
  const asked = createOutput('n');
  const declined = { code: 'payment_declined', message: 'nothing was cancelled' };
  await expect(cancelPayRun(client, [found], {}, asked.output)).rejects.toMatchObject(declined);
  expect(asked.written).toEqual(['2 of 4 part(s) have not ended\n']);
  const single = { job: async () => running, cancel: client.cancel };
  const one = createOutput('n').output;
  await expect(cancelThrough(single, 'k', {}, one)).rejects.toMatchObject(declined);
  expect(cancels).toEqual([]);
  expect(await cancelPayRun(client, [found], { yes: true }, createOutput('n').output)).toBe(7);
});

it('refuses a label of several pay runs', async () => {
  const both = [found, { ...found, chain: 'other' }];
  await expect(
    cancelPayRun(createPartsAgent().client, both, {}, createOutput().output),
  ).rejects.toMatchObject({ message: expect.stringContaining('--chain') });
});
