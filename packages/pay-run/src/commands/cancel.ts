/**
 * `disburse-agent cancel <key or label>`: cancels a job, or the open jobs of a pay run, through the agent on this machine, and waits until its outcome is
 * certain.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DisbursementJob, PoolError } from '@pool/core';
import { inspectPayRun } from '../books/pay-run-view.ts';
import { exitCodes } from '../exit-codes.ts';
import { adviseOnUsedKey, isUsedElsewhere } from '../ledger/pay-run-find.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import { isTerminal, optional } from '../pay/follow-job.ts';
import type { AgentClient, Output, Payer } from '../ports.ts';
import { describeTraceId } from '../report/job-report.ts';
import { stateOf } from '../report/split-report.ts';
import { findLabel, type PayRunsOptions } from './pay-runs.ts';

const pauseMs = 1_000;

/**
 * @param name - a key, or the label of a pay run that was sent from this directory
 * @returns the exit code
 */
export async function cancelPayment(
  name: string,
  payer: Pick<Payer, 'ledger' | 'openAgent'>,
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const client = payer.openAgent();
  const found = isKey(name) ? [] : findLabel(name, await listAllPayRuns(payer.ledger), options);
  return found.length === 0
    ? await cancelThrough(client, name, options, output)
    : await cancelPayRun(client, found, options, output);
}

/** Keys of pay runs end with 32 hex digits, and their labels are as long as they are. */
function isKey(name: string): boolean {
  return /-[0-9a-f]{32}$/.test(name) || !/^[\p{L}\p{N}]/u.test(name);
}

/** Cancels every part that has not ended. @throws PoolError `invalid_request` if several payments have the label */
export async function cancelPayRun(
  client: Pick<AgentClient, 'find' | 'job' | 'cancel'>,
  found: readonly NamedPayRun[],
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const [payRun, other] = found;
  if (payRun === undefined || other !== undefined) {
    const places = found.map(({ payRun, chain, token }) => `${payRun} on ${chain} in ${token}`);
    throw new PoolError(
      'invalid_request',
      `nothing was cancelled: several pay runs have this label: ${places.join('; ')}; choose one with --chain and --token, or cancel its keys, which "disburse-agent pay-runs show" prints`,
    );
  }
  const { parts } = await inspectPayRun(payRun, client);
  const isWhole = parts.length === 1;
  const codes: number[] = [];
  for (const { part, key, job } of parts) {
    if (job === undefined) {
      output.terminal.write(
        `part ${part}: the agent has no job for it, so there is nothing to cancel; it is not sent unless the pay run is run again\n`,
      );
      continue;
    }
    if (isWhole || !isTerminal(job)) {
      codes.push(await cancelThrough(client, key, options, output));
    } else {
      output.terminal.write(`part ${part}: it had ended: ${stateOf(job)}\n`);
    }
  }
  return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok;
}

/** {@link cancelPayment} with a given client. */
export async function cancelThrough(
  client: Pick<AgentClient, 'job' | 'cancel'>,
  key: string,
  options: PayRunsOptions,
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
