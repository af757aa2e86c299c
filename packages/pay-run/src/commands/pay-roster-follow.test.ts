// Ctrl-C while a payment is followed: the payment continues, and the command says so.
import type { DisbursementJob } from '@pool/core';
import { textOf } from '@pool/testkit';
import { expect, it } from 'vitest';
import { exitCodes } from '../exit-codes.ts';
import { followWhole } from './pay-roster.ts';

it.each([
  ['SIGINT', false, []],
  ['SIGTERM', true, ['{"isRepeat":false,"job":{"key":"june-1","state":"submitted"}}']],
] as const)('prints on %s how to follow the job, with JSON: %s', async (name, json, documents) => {
  const job = { key: 'june-1', state: 'submitted' } as const;
  const told: string[] = [];
  const printed: string[] = [];
  const listeners = process.listenerCount(name);
  const followed = followWhole(
    {
      job: async () => job,
      trace: async () => ({ timings: [], prover: { kind: 'cpu', detail: '' } }),
    },
    { job, isRepeat: false },
    [],
    { pollMs: 1, json },
    {
      out: (outcome) => printed.push(textOf(outcome)),
      terminal: { isTty: false, write: (text) => told.push(text) },
    },
  );
  process.emit(name);
  expect(await followed).toBe(exitCodes.interrupted);
  expect(printed).toEqual(documents);
  expect(told.join('')).toContain('the agent continues this payment');
  expect(told.join('')).toContain('Run the same command again');
  expect(told.join('')).toContain('disburse-agent cancel june-1');
  expect(process.listenerCount(name)).toBe(listeners);
});

it('says first that a run sent nothing, before what an earlier one paid', async () => {
  const printed: string[] = [];
  const job: DisbursementJob = {
    key: 'june-1',
    state: 'done',
    result: {
      status: 'completed',
      batches: [{ index: 0, txHash: '0x5c', recipientCount: 1, status: 'success' }],
      notes: [],
      skipped: [],
      allowance: { state: 'sufficient' },
    },
  };
  const follow = (isRepeat: boolean, json: boolean) =>
    followWhole(
      {
        job: async () => job,
        trace: async () => ({ timings: [], prover: { kind: 'cpu', detail: '' } }),
      },
      { job, isRepeat },
      [],
      { pollMs: 1, json },
      {
        out: (outcome) => printed.push(textOf(outcome)),
        terminal: { isTty: false, write: () => undefined },
      },
    );
  await follow(true, false);
  const lines = printed.join('\n').split('\n');
  expect(lines[0]).toContain('this run sent nothing');
  expect(lines[1]).toContain('completed: 1 recipient(s) in 0x5c');
  for (const isRepeat of [true, false]) {
    await follow(isRepeat, true);
    expect(JSON.parse(printed.at(-1) ?? '')).toMatchObject({ isRepeat, job: { key: 'june-1' } });
  }
});
