// The one summary of a pay run in parts (the agent's README: rosters above the ceiling).
import type { DisbursementJob } from '@pool/core';
import { describe, expect, it } from 'vitest';
import type { PartOutcome, SplitOutcome } from '../pay/split-pay-run.ts';
import { createSplitDocument, describeSplit, exitCodeOfSplit } from './split-report.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const people = ['0xa', '0xb', '0xc', '0xd', '0xe'];

function createDone(
  status: 'completed' | 'partial',
  addresses: readonly string[],
): DisbursementJob {
  const outcome = status === 'completed' ? 'success' : 'failed';
  return {
    key: 'k',
    state: 'done',
    result: {
      status,
      batches: [
        {
          index: 0,
          txHash: '0x5c',
          recipientCount: addresses.length,
          status: outcome,
          ...(status === 'partial'
            ? { error: { code: 'reverted', message: 'BatchNonceUsed' } }
            : {}),
        },
      ],
      notes: addresses.map((recipientAddress, requestIndex) => ({
        requestIndex,
        recipientAddress,
        commitment: '0x00',
        amount: '10',
        status: outcome,
      })),
      skipped: [],
      allowance: { state: 'sufficient' },
    },
  };
}

const paid = createDone('completed', ['0xa', '0xb']);
const reverted = createDone('partial', ['0xa', '0xb']);
function failedBy(code: string): DisbursementJob {
  return {
    key: 'k',
    state: 'failed',
    error: { code, message: 'why' },
  };
}
const failed = failedBy('unregistered-recipient');
const running: DisbursementJob = { key: 'k', state: 'submitted', stage: 'proving' };

function createOutcome(...jobs: readonly (DisbursementJob | undefined)[]): SplitOutcome {
  const parts = jobs.map(
    (job, index): PartOutcome => ({
      part: index + 1,
      of: jobs.length,
      key: `key-${index + 1}`,
      attempt: 1,
      entries: people
        .slice(2 * index, 2 * index + 2)
        .map((recipientAddress) => ({ recipientAddress, amount: '10' })),
      ...(job === undefined ? {} : { job }),
    }),
  );
  return { parts };
}

describe('describeSplit', () => {
  it('says what is paid, what is not, and what to do', () => {
    expect(describeSplit(name, createOutcome(paid, failed, undefined), 6).split('\n')).toEqual([
      'pay run 2026-11: 1 of 3 parts paid, 2 of 5 recipients, 0.00002 of 0.00005 USDC',
      'part 1: paid: 2 recipient(s) in 0x5c',
      'part 2: failed: unregistered-recipient: why',
      '  nothing of it was paid: correct the cause, then run the same command with --split --retry 2',
      'part 3: not submitted, 1 recipient(s)',
      '  run the same command again to continue',
    ]);
  });

  it('never advises to send again what may have been paid', () => {
    const text = describeSplit(
      name,
      createOutcome(reverted, failedBy('settled_elsewhere'), running),
      6,
    );
    expect(text).not.toContain('--retry');
    expect(text).toContain('part 1: reverted: 2 recipient(s) in 0x5c: reverted: BatchNonceUsed');
    expect(text).toContain('0 of 3 parts paid, 0 of 5 recipients, 0 of 0.00005 USDC');
    expect(text).toContain('check what was paid before you pay again');
  });

  it('says when a run paid nobody, because a new payment of the same people needs another label', () => {
    const outcome = createOutcome(paid, paid, createDone('completed', ['0xe']));
    expect(describeSplit(name, outcome, 6)).not.toContain('this run sent nothing');
    const [first] = describeSplit(name, { ...outcome, isRepeat: true }, 6).split('\n');
    expect(first).toContain('this run sent nothing');
  });

  it('names what stopped the run, and the people who were skipped', () => {
    const skipped = [
      {
        requestIndex: 1,
        recipientAddress: '0xb',
        code: 'c',
        message: 'recipients[1]: not enrolled',
      },
    ];
    const one = createDone('completed', ['0xa']);
    if (one.state !== 'done') {
      throw new Error('the fixture makes done jobs');
    }
    const job = { ...one, result: { ...one.result, skipped } };
    const stop = { code: 'interrupted', message: 'm', exitCode: 130 };
    const text = describeSplit(name, { ...createOutcome(job, running), stop }, 6);
    expect(text).toContain('1 of 4 recipients, 0.00001 of 0.00004 USDC');
    expect(text).toContain(
      '  skipped 0xb: not enrolled\n  the people who were skipped were not paid',
    );
    expect(text).toContain('stopped: interrupted: m');
  });
});

describe('createSplitDocument', () => {
  it('says whether the run sent nothing', () => {
    const outcome = createOutcome(paid, paid, paid);
    for (const isRepeat of [true, false]) {
      expect(createSplitDocument(name, { ...outcome, isRepeat })).toMatchObject({ isRepeat });
    }
  });

  it('lists what stopped the run', () => {
    const stopped = { code: 'c', message: 'm', problems: [{ line: 7 }] };
    const outcome = { ...createOutcome(undefined), stop: { ...stopped, exitCode: 2 } };
    expect(createSplitDocument(name, outcome)).toMatchObject({ stopped });
  });

  it('contains the same facts for programs', () => {
    const document = createSplitDocument(name, createOutcome(paid, failed, undefined));
    expect(JSON.parse(JSON.stringify(document))).toMatchObject({
      ...name,
      complete: false,
      recipients: { total: 5, paid: 2, skipped: 0 },
      amount: { total: '50', paid: '20' },
      parts: [
        { part: 1, of: 3, key: 'key-1', attempt: 1, state: 'paid', recipients: 2, job: paid },
        { part: 2, state: 'failed', next: expect.stringContaining('--retry 2') },
        { part: 3, state: 'not-submitted', recipients: 1, amount: '10' },
      ],
    });
  });
});

describe('exitCodeOfSplit', () => {
  it.each([
    ['all paid', [paid, paid], 0],
    ['one failed', [paid, failed, undefined], 3],
    ['one reverted', [paid, reverted, undefined], 4],
    ['the first of both', [paid, reverted, failed], 4],
  ] as const)('%s', (_what, jobs, code) => {
    expect(exitCodeOfSplit(createOutcome(...jobs))).toBe(code);
  });

  it('is the code of what stopped the run, if something did', () => {
    const stop = { code: 'interrupted', message: 'm', exitCode: 130 };
    expect(exitCodeOfSplit({ ...createOutcome(failed, undefined), stop })).toBe(130);
  });
});
