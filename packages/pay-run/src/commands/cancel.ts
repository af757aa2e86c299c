/**
 * `disburse-agent cancel <key or label>`: cancels a job, or the open jobs of a pay run, through the agent on this machine, and waits until its outcome is
 * certain.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DisbursementJob, PoolError } from '@pool/core';
import { inspectPayRun } from '../books/pay-run-view.ts';
import { isConfirmed } from '../check/confirm-payment.ts';
import { exitCodes } from '../exit-codes.ts';
import { isLabelOf } from '../ledger/invited-record.ts';
import { adviseOnUsedKey, isUsedElsewhere } from '../ledger/pay-run-find.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import { isTerminal, optional } from '../pay/follow-job.ts';
import type { AgentClient, Output, Payer } from '../ports.ts';
import { describeTraceId } from '../report/job-report.ts';
import { stateOf } from '../report/split-report.ts';
import { findLabel, type PayRunsOptions } from './pay-runs.ts';

const pauseMs = 1_000;

export type CancelOptions = PayRunsOptions & { readonly yes?: boolean };

/**
 * Asks first where somebody can answer, and without `yes`.
 * @param name - a key, or the label of a pay run that was sent from this directory
 * @returns the exit code
 */
export async function cancelPayment(
  name: string,
  payer: Pick<Payer, 'ledger' | 'openAgent'>,
  options: CancelOptions,
  output: Output,
): Promise<number> {
  const client = payer.openAgent();
  const all = isKey(name) ? [] : await listAllPayRuns(payer.ledger);
  const found = isKey(name) ? [] : findLabel(name, all, options);
  const [{ chain, token, payRun } = { chain: '', token: '', payRun: '' }] = found;
  const rounds = all.filter(
    (other) =>
      other.chain === chain &&
      other.token === token &&
      other.payRun !== payRun &&
      isLabelOf(other.payRun, payRun),
  );
  return found.length === 0
    ? await cancelThrough(client, name, options, output)
    : await cancelPayRun(client, found, options, output, rounds);
}

/** Keys of pay runs end with 32 hex digits, and their labels are as long as they are. */
function isKey(name: string): boolean {
  return /-[0-9a-f]{32}$/.test(name) || !/^[\p{L}\p{N}]/u.test(name);
}

/**
 * Cancels every part that has not ended, all at once, so that none is paid while another is waited for. A second run cancels what is left.
 * @param rounds - later payments under the label, to people who were held back
 * @throws PoolError `invalid_request` if several payments have the label
 */
export async function cancelPayRun(
  client: Pick<AgentClient, 'find' | 'job' | 'cancel'>,
  found: readonly NamedPayRun[],
  options: CancelOptions,
  output: Output,
  rounds: readonly NamedPayRun[] = [],
): Promise<number> {
  const [payRun, other] = found;
  if (payRun === undefined || other !== undefined) {
    const places = found.map(({ payRun, chain, token }) => `${payRun} on ${chain} in ${token}`);
    throw new PoolError(
      'invalid_request',
      `nothing was cancelled: several pay runs have this label: ${places.join('; ')}; choose one with --chain and --token, or cancel its keys, which "disburse-agent pay-runs show" prints`,
    );
  }
  const views = await Promise.all([payRun, ...rounds].map((each) => inspectPayRun(each, client)));
  const parts = views.flatMap((view) => view.parts.map((part) => ({ ...part, of: view.payRun })));
  const [whole, second] = parts;
  if (whole?.job !== undefined && second === undefined) {
    return await cancelThrough(client, whole.key, options, output);
  }
  const open = parts.filter(({ job }) => job !== undefined && !isTerminal(job));
  if (open.length > 0) {
    output.terminal.write(`${open.length} of ${parts.length} part(s) have not ended\n`);
    await assertAgreed(options, output);
    output.terminal.write(waitingNote);
  }
  const ended = await Promise.all(
    parts.map(async (part) => ({
      ...part,
      wasOpen: open.includes(part),
      job: open.includes(part) ? await untilEnded(client, part.key) : part.job,
    })),
  );
  if (options.json === true) {
    const { chain, token } = payRun;
    const rows = ended.map(({ of, part, key, job, wasOpen }) => {
      return { payRun: of, part, key, outcome: outcomeOf(job, wasOpen), job };
    });
    output.out({ payRun: payRun.payRun, chain, token, parts: rows });
  } else {
    output.out(ended.map(describePart).join('\n'));
  }
  const codes = ended.flatMap(({ job, wasOpen }) =>
    wasOpen && job !== undefined ? [exitCodeOf(job)] : [],
  );
  return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok;
}

type EndedPart = {
  readonly part: number;
  readonly of: string;
  readonly key: string;
  readonly job: DisbursementJob | undefined;
  /** It had not ended before this command. */
  readonly wasOpen: boolean;
};

/** What became of a part: `cancelled` is certain, `not-sent` is not sent unless the pay run is run again. */
function outcomeOf(
  job: DisbursementJob | undefined,
  wasOpen: boolean,
): 'cancelled' | 'not-sent' | 'had-ended' | 'paid' | 'reverted' | 'failed' {
  if (job === undefined) {
    return 'not-sent';
  }
  if (!wasOpen) {
    return 'had-ended';
  }
  if (job.state === 'done') {
    return job.result?.status === 'partial' ? 'reverted' : 'paid';
  }
  return job.error?.code === 'cancelled' ? 'cancelled' : 'failed';
}

function describePart({ part, of, job, wasOpen }: EndedPart): string {
  const name = `${of}, part ${part}`;
  if (job === undefined) {
    return `${name}: the agent has no job for it, so there is nothing to cancel; it is not sent unless the pay run is run again`;
  }
  return wasOpen
    ? `${name}: ${describe(job, false)}`
    : `${name}: it had ended: ${job.error?.code === 'cancelled' ? 'cancelled' : stateOf(job)}`;
}

/** Nobody to ask: it goes on. @throws PoolError `payment_declined` */
async function assertAgreed({ yes }: CancelOptions, { ask }: Output): Promise<void> {
  const isAsked = { ask: yes === true ? undefined : ask };
  if (!(await isConfirmed(isAsked, 'Cancel what has not ended?'))) {
    throw new PoolError('payment_declined', 'nothing was cancelled');
  }
}

const waitingNote =
  'cancelling: waiting until the chain shows that the batch cannot be paid, at most until its deadline\n' +
  'Ctrl-C ends the waiting, not the cancellation; run the command again to continue waiting\n';

/** {@link cancelPayment} with a given client. */
export async function cancelThrough(
  client: Pick<AgentClient, 'job' | 'cancel'>,
  key: string,
  options: CancelOptions,
  output: Output,
): Promise<number> {
  const { out, terminal } = output;
  const before = await client.job(key);
  let job = before;
  if (!isTerminal(before)) {
    await assertAgreed(options, output);
    terminal.write(waitingNote);
    job = await untilEnded(client, key);
  }
  const text = describe(job, isTerminal(before));
  out(options.json === true ? { job } : text);
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
