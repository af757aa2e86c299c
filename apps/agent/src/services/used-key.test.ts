// The commands' output for a key that was or may be paid under other settings: it never says that nothing was paid, and
// never advises to send it again.
import type { DisbursementJob } from '@pool/core';
import { textOf } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { cancelThrough } from '../../../../packages/pay-run/src/commands/cancel.ts';
import { createProgressView } from '../../../../packages/pay-run/src/pay/progress-view.ts';
import { describeJob, exitCodeOfJob } from '../../../../packages/pay-run/src/report/job-report.ts';
import { describeSplit } from '../../../../packages/pay-run/src/report/split-report.ts';

const error = { code: 'settled_elsewhere', message: 'the key is paid or may be; do not resubmit' };
const failed: DisbursementJob = { key: 'k', state: 'failed', error };
const partial: DisbursementJob = {
  key: 'k',
  state: 'done',
  result: {
    status: 'partial',
    batches: [{ index: 0, txHash: '0x5c', recipientCount: 1, status: 'failed', error }],
    notes: [],
    skipped: [],
    allowance: { state: 'unknown' },
  },
};

async function cancel(job: DisbursementJob): Promise<string> {
  const out: string[] = [];
  await cancelThrough(
    { job: async () => ({ key: 'k', state: 'submitted' }), cancel: async () => job },
    'k',
    {},
    {
      out: (outcome) => out.push(textOf(outcome)),
      terminal: { isTty: false, write: () => undefined },
    },
  );
  return out.join('\n');
}

function split(job: DisbursementJob): string {
  return describeSplit(
    { chain: 'anvil', token: 'USDC', payRun: 'may' },
    { parts: [{ part: 1, of: 1, key: 'k', attempt: 1, entries: [], job }] },
    6,
  );
}

describe.each([
  ['failed', failed, 3],
  ['partial', partial, 4],
] as const)(
  'a %s job whose key was or may be paid under other settings',
  (_state, job, exitCode) => {
    it.each([
      ['disburse', async () => describeJob(job, undefined, [], false)],
      ['disburse --split', async () => split(job)],
      ['cancel', async () => await cancel(job)],
    ] as const)(
      'is reported by %s without calling it unpaid and without advice to send it again',
      async (_, say) => {
        const text = await say();
        expect(text).toContain('settled_elsewhere: the key is paid or may be; do not resubmit');
        expect(text).toContain('check what was paid before you pay again');
        expect(text).not.toMatch(
          /nothing (of it )?was paid|--retry|under a(?: \w+)* label|can never land/,
        );
      },
    );

    it('gives the exit code of its state', () => {
      expect(exitCodeOfJob(job)).toBe(exitCode);
    });
  },
);

it('shows while the job waits that the batch is not sent again', () => {
  const written: string[] = [];
  const view = createProgressView({ isTty: false, write: (text) => written.push(text) });
  const prover = { kind: 'cpu', detail: '' };
  view.show('submitted', 'settlement-refused', { timings: [], prover, refusal: error });
  expect(written.join('')).toContain('it is not sent again');
  expect(written.join('')).not.toContain('it is sent again');
});

it('shows while the job waits for other settings which setting must be restored', () => {
  const written: string[] = [];
  const view = createProgressView({ isTty: false, write: (text) => written.push(text) });
  const refusal = { code: 'configuration_changed', message: 'the funder was 0xa and is 0xb' };
  const prover = { kind: 'cpu', detail: '' };
  view.show('submitted', 'configuration-changed', { timings: [], prover, refusal });
  expect(written.join('')).toContain('configuration_changed: the funder was 0xa and is 0xb');
  expect(written.join('')).not.toMatch(/settlement refused|sent again/);
});

it('shows below a paid job that an allowance may be left', () => {
  const done: DisbursementJob = {
    key: 'k',
    state: 'done',
    result: {
      status: 'completed',
      batches: [],
      notes: [],
      skipped: [],
      allowance: { state: 'sufficient' },
    },
  };
  const prover = { kind: 'cpu', detail: '' };
  const trace = { timings: [], prover, remainder: 'set the allowance of the pool to 0' };
  expect(describeJob(done, trace, [], false)).toContain(
    'warning: set the allowance of the pool to 0',
  );
});
