/**
 * `disburse-agent cancel <key>`: cancels a job through the agent on this machine, and waits until its outcome is
 * certain.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DisbursementJob } from '@pool/core';
import { readAgentAddress } from '../config/config.ts';
import { isTerminal, optional } from '../pay-run/follow-job.ts';
import { describeTraceId } from '../pay-run/job-report.ts';
import { adviseOnUsedKey, isUsedElsewhere } from '../pay-run/pay-run-find.ts';
import type { AgentClient } from '../services/agent-client.ts';
import type { Output } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createClient } from './disburse-command.ts';

export type CancelOptions = { readonly json?: boolean; readonly envFile?: string };

const pauseMs = 1_000;

/** @returns the exit code */
export async function runCancel(
  key: string,
  options: CancelOptions,
  output: Output,
): Promise<number> {
  return cancelThrough(createClient(readAgentAddress(options.envFile)), key, options, output);
}

/** {@link runCancel} with a given client. */
export async function cancelThrough(
  client: Pick<AgentClient, 'job' | 'cancel'>,
  key: string,
  options: CancelOptions,
  { out, terminal }: Output,
): Promise<number> {
  const before = await client.job(key);
  let job = before;
  if (!isTerminal(before)) {
    terminal.write(
      'cancelling: waiting until the chain shows that the batch cannot be paid, at most until its deadline\n' +
        'Ctrl-C ends the waiting, not the cancellation; run the command again to continue waiting\n',
    );
    job = await untilEnded(client, key);
  }
  const text = describe(job, isTerminal(before));
  out(options.json === true ? JSON.stringify({ job }, null, 2) : text);
  return exitCodeOf(job);
}

/** Asks again if the agent restarts, or if the answer takes longer than one request. */
async function untilEnded(
  client: Pick<AgentClient, 'cancel'>,
  key: string,
): Promise<DisbursementJob> {
  for (;;) {
    const job = await optional(() => client.cancel(key));
    if (job !== undefined && isTerminal(job)) {
      return job;
    }
    await sleep(pauseMs);
  }
}

function describe(job: DisbursementJob, hadEnded: boolean): string {
  const txHash = job.result?.batches[0]?.txHash ?? 'unknown';
  const tooLate = hadEnded
    ? 'the job had already ended, so there was nothing to cancel'
    : undefined;
  const outcome = describeOutcome(job, txHash);
  return [tooLate, ...outcome, `key: ${job.key}`, describeTraceId(job.key)]
    .filter((line) => line !== undefined)
    .join('\n');
}

function describeOutcome(job: DisbursementJob, txHash: string): readonly string[] {
  if (job.result?.status === 'completed') {
    return [`not cancelled: the batch was PAID, in ${txHash}`];
  }
  if (isUsedElsewhere(job)) {
    const { code, message } = job.error ??
      job.result?.batches[0]?.error ?? { code: '', message: '' };
    return [`${code}: ${message}`, adviseOnUsedKey(job)];
  }
  if (job.result?.status === 'partial') {
    return [
      `nothing was paid: the transaction ${txHash} reverted, and the batch can never be paid`,
    ];
  }
  const { code = 'unknown', message = '' } = job.error ?? {};
  return code === 'cancelled' ? [message] : [`failed: ${code}: ${message}`];
}

function exitCodeOf(job: DisbursementJob): number {
  if (job.state === 'done') {
    return job.result?.status === 'partial' ? exitCodes.partial : exitCodes.paidAnyway;
  }
  return job.error?.code === 'cancelled' ? exitCodes.ok : exitCodes.failed;
}
