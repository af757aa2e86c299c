/**
 * `disburse-agent jobs list|show`: every payment in the job store, whoever submitted it. Moves no money, and needs no running agent.
 *
 * @module
 */
import { deriveTraceId, formatTokenAmount, isPoolError } from '@pool/core';
import { findPayment, findPayments } from '../books/find-payments.ts';
import { decimalsOf, type JobFilter } from '../books/select-payments.ts';
import type { StoredPayment } from '../books/stored-payments.ts';
import { exitCodes } from '../exit-codes.ts';
import { labelOf } from '../ledger/invited-record.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import { formatSeconds } from '../pay/progress-view.ts';
import type { AgentClient, JobTrace, Output, Payer } from '../ports.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import { formatMinute } from './pay-runs.ts';

export type JobsOptions = JobFilter & {
  readonly limit?: number;
  /** Key of the last payment of the page before. */
  readonly after?: string;
  readonly json?: boolean;
};

type Jobs = Pick<Payer, 'ledger' | 'readChains'>;

/** The newest first. @returns the exit code */
export async function listJobs(
  jobs: Jobs,
  options: JobsOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const { limit = 100, after } = options;
  const payRuns = await listAllPayRuns(jobs.ledger);
  const { payments, hasMore } = await findPayments(jobs.ledger.jobs, payRuns, options, {
    ...{ limit, after },
  });
  const next = hasMore ? payments.at(-1)?.key : undefined;
  if (options.json === true) {
    const more = next === undefined ? {} : { next };
    out({ jobs: payments.map(toDocument), ...more });
  } else {
    out(
      [
        ...(payments.length === 0 ? ['no job passes this filter'] : []),
        ...payments.map((one) => describe(one, jobs)),
        ...(next === undefined
          ? []
          : [
              `there are older ones: the same command with --after ${next}, or with a larger --limit`,
            ]),
      ].join('\n'),
    );
  }
  return exitCodes.ok;
}

/** One payment, with the trace of the running agent if there is one. @returns the exit code. @throws PoolError `not_found` */
export async function showJob(
  name: string,
  jobs: Jobs & { openAgent(): Pick<AgentClient, 'trace'> },
  options: Pick<JobsOptions, 'json'>,
  { out, terminal }: Output,
): Promise<number> {
  const found = await findPayment(jobs.ledger.jobs, await listAllPayRuns(jobs.ledger), name);
  const trace = await readTrace(found.key, jobs, (note) => terminal.write(note));
  if (options.json === true) {
    const { job } = found;
    const more = {
      ...(job === undefined ? {} : { job }),
      ...(trace === undefined ? {} : { trace }),
    };
    out({ ...toDocument(found), ...more });
  } else {
    out([describe(found, jobs), ...describeMore(found, trace)].join('\n'));
  }
  return exitCodes.ok;
}

async function readTrace(
  key: string,
  { openAgent }: { openAgent(): Pick<AgentClient, 'trace'> },
  note: (text: string) => void,
): Promise<JobTrace | undefined> {
  try {
    return await openAgent().trace(key);
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    note(
      `note: this is what the job store has; the agent does not answer, so it is unknown why the job waits: ${error.message}\n`,
    );
    return undefined;
  }
}

/** Recipients and total, as far as the store has them. */
function countPayees({ job, record }: StoredPayment): {
  readonly recipients: number;
  readonly skipped: number;
  /** Base units. */
  readonly amount: bigint;
} {
  const payees = job?.result?.notes ?? record?.recipients ?? [];
  const skipped = (job?.result?.skipped ?? record?.skipped ?? []).length;
  return { recipients: payees.length, skipped, amount: sumAmounts(payees) };
}

function describe(payment: StoredPayment, jobs: Pick<Jobs, 'readChains'>): string {
  const { key, createdAtMs, place, record } = payment;
  const { recipients, skipped, amount } = countPayees(payment);
  const symbol = record?.tokenSymbol ?? '';
  const { decimals } = decimalsOf(jobs, record?.chain ?? '', symbol);
  const total =
    decimals === undefined
      ? `${amount} base units of ${symbol}`
      : formatTokenAmount(amount, { symbol, decimals });
  const part = place === undefined || place.of === 1 ? '' : `, part ${place.part} of ${place.of}`;
  const left = skipped === 0 ? '' : `, ${skipped} skipped`;
  return [
    `${formatMinute(createdAtMs)}  ${nameWork(payment)}${record === undefined ? '' : ` on ${record.chain}`}`,
    ...(place === undefined ? [] : [`${labelOf(place.payRun)}${part}`]),
    // Of a job that retention has erased, and of one that another version stored, nobody knows the payees.
    ...(recipients === 0 ? [] : [`${recipients} recipient(s)${left}, ${total}`]),
    `key ${key}`,
  ].join('; ');
}

/** The state, and of a running job what it does. */
function nameWork({ state, job }: StoredPayment): string {
  return job?.stage === undefined ? state : `${state} (${job.stage})`;
}

function describeMore(
  { key, record, job, updatedAtMs }: StoredPayment,
  trace: JobTrace | undefined,
): readonly string[] {
  const seconds =
    trace?.timings.map(({ stage, seconds: time }) => [stage, time] as const) ??
    Object.entries(record?.stageSeconds ?? {});
  const { code, message } = job?.error ?? job?.result?.batches[0]?.error ?? {};
  const waits = [trace?.refusal, trace?.outage].filter((one) => one !== undefined);
  const txHash = job?.result?.batches[0]?.txHash;
  const { blockNumber, gasUsed } = trace?.settlement ?? {};
  const block = blockNumber === undefined ? '' : `, block ${blockNumber}`;
  const gas = gasUsed === undefined ? '' : `, gas ${gasUsed}`;
  return [
    ...(txHash === undefined ? [] : [`transaction: ${txHash}${block}${gas}`]),
    ...(code === undefined ? [] : [`error: ${code}: ${message}`]),
    ...waits.map((one) => `waits: ${one.code}: ${one.message}`),
    ...(trace?.remainder === undefined ? [] : [`warning: ${trace.remainder}`]),
    ...seconds.map(([stage, time]) => `  ${stage}: ${formatSeconds(time)}`),
    `last change: ${formatMinute(updatedAtMs)}`,
    `trace id in all logs: ${deriveTraceId(key)}`,
  ];
}

/** Of `--json`. Amounts are base units. */
function toDocument(payment: StoredPayment): object {
  const { key, state, createdAtMs, updatedAtMs, place, record, job } = payment;
  const { recipients, skipped, amount } = countPayees(payment);
  return {
    ...{ key, state },
    ...(job?.stage === undefined ? {} : { stage: job.stage }),
    ...(record === undefined ? {} : { chain: record.chain, token: record.tokenSymbol }),
    ...(place === undefined
      ? {}
      : { payRun: labelOf(place.payRun), part: place.part, of: place.of }),
    ...(recipients + skipped === 0 ? {} : { recipients, skipped, amount: String(amount) }),
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
    traceId: deriveTraceId(key),
  };
}
