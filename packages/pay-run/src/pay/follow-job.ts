/**
 * Watches a job of the running agent to its end, through restarts of the agent.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DisbursementJob, deriveTraceId, isPoolError } from '@pool/core';
import type { AgentClient, JobTrace, Terminal } from '../ports.ts';
import { createProgressView } from './progress-view.ts';

const defaultPollMs = 500;

export type FollowOptions = {
  /** Ends the watch. The agent continues the job. */
  readonly signal?: AbortSignal;
  /** Pause between two readings. Default: half a second. */
  readonly pollMs?: number | undefined;
  /** Ends the watch. Default: {@link isTerminal} */
  readonly until?: (job: DisbursementJob) => boolean;
};

export type FollowedJob = {
  readonly job: DisbursementJob;
  /** Undefined: the watch ended before the job did. */
  readonly trace: JobTrace | undefined;
};

export async function followJob(
  client: Pick<AgentClient, 'job' | 'trace'>,
  first: DisbursementJob,
  terminal: Terminal,
  options: FollowOptions = {},
): Promise<FollowedJob> {
  const { key } = first;
  const { signal, until = isTerminal } = options;
  let job = first;
  const view = createProgressView(terminal);
  if (terminal.isTty) {
    terminal.write(`  trace id in all logs: ${deriveTraceId(key)}\n`);
  }
  while (!until(job)) {
    view.show(job.state, job.stage, await optional(() => client.trace(key)));
    await pause(options);
    if (signal?.aborted === true) {
      view.end(undefined);
      return { job, trace: undefined };
    }
    // An agent that is being restarted continues the job, so keep asking.
    job = (await optional(() => client.job(key))) ?? job;
  }
  if (!isTerminal(job)) {
    view.end(undefined);
    return { job, trace: undefined };
  }
  const trace = await untilAnswered(() => client.trace(key), options);
  view.end(trace);
  return { job: (await untilAnswered(() => client.job(key), options)) ?? job, trace };
}

export function isTerminal({ state }: DisbursementJob): boolean {
  return state === 'done' || state === 'failed';
}

/** Undefined while the agent does not answer, or does not know its employer yet. */
export async function optional<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isPoolError(error) && error.retryable) {
      return undefined;
    }
    throw error;
  }
}

/** Undefined: the signal was aborted first. */
async function untilAnswered<T>(
  work: () => Promise<T>,
  options: FollowOptions,
): Promise<T | undefined> {
  for (;;) {
    const answer = await optional(work);
    if (answer !== undefined) {
      return answer;
    }
    await pause(options);
    if (options.signal?.aborted === true) {
      return undefined;
    }
  }
}

/** Returns early when the signal is aborted. */
async function pause({ signal, pollMs = defaultPollMs }: FollowOptions): Promise<void> {
  await sleep(pollMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/**
 * Runs a command that only follows a job. The first SIGINT or SIGTERM ends the following, the second one the process.
 *
 * @param work - ends early when its signal is aborted
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(interruption.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
