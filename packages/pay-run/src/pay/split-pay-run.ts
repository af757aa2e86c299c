/**
 * Pays a roster in parts (the agent's README: rosters above the ceiling; docs/decisions/0008). A part is sent once the one before has left
 * the agent, so its proof is made while that one settles. No more parts are sent once one has ended unpaid.
 * After any interruption the same call continues, because every decision follows from the roster, the ledger and the jobs
 * of the agent.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DisbursementJob, isPoolError, PoolError } from '@pool/core';
import {
  checkParts,
  createRequest,
  describeIssue,
  isFinding,
  type PartIssue,
} from '../check/check-parts.ts';
import type { ApprovePayment } from '../check/confirm-payment.ts';
import { exitCodeOfError, exitCodes } from '../exit-codes.ts';
import { isRound } from '../ledger/invited-record.ts';
import {
  assertNoneLost,
  type ClaimDeps,
  claimPayRun,
  findPayRun,
} from '../ledger/pay-run-claim.ts';
import { adviseOnUsedKey, findPart, hasNoEffect } from '../ledger/pay-run-find.ts';
import { computePartKey, cutRoster, type PartName, type PayRun } from '../ledger/pay-run-key.ts';
import { recordKnownPart, sendPart, submitOrFind } from '../ledger/pay-run-send.ts';
import type { AgentClient, JobTrace, Terminal } from '../ports.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import { followJob, isTerminal, optional } from './follow-job.ts';

export type SplitPlan = PayRun & {
  readonly unregistered?: 'fail' | 'skip' | undefined;
  /** Parts to send once more if they failed. */
  readonly retry: readonly number[];
};

export type PartOutcome = {
  /** From 1. */
  readonly part: number;
  readonly of: number;
  readonly key: string;
  readonly attempt: number;
  readonly entries: readonly RosterEntry[];
  /** Undefined: the agent has no job for this attempt, unless `isUnseen`. */
  readonly job?: DisbursementJob;
  /** The part was sent and the answer was not seen. */
  readonly isUnseen?: boolean;
  /** Present once the job has ended. */
  readonly trace?: JobTrace;
};

/** Why the run ended early, other than a part that failed or reverted. */
export type Stop = {
  readonly code: string;
  readonly message: string;
  /** One for each line or place, where there is a list. */
  readonly problems?: readonly object[] | undefined;
  readonly exitCode: number;
};

export type SplitOutcome = {
  readonly parts: readonly PartOutcome[];
  readonly stop?: Stop;
  /** Earlier runs submitted every part. This one sent nothing. */
  readonly isRepeat?: boolean;
};

export type SplitDeps = ClaimDeps & {
  readonly client: AgentClient;
  /** Recipients that a call may list. Asked only if the number of parts is not fixed yet. */
  readonly readCeiling: () => Promise<number>;
  readonly terminal: Terminal;
  /** Asked last, before the first part is sent. Not asked if earlier runs sent every part. */
  readonly approve: ApprovePayment;
  /** Ends the run between two readings of a job. */
  readonly signal: AbortSignal;
  /** Pause between two readings of a job. */
  readonly pollMs?: number | undefined;
  /** Told when the agent has a part. */
  readonly onSent?: (() => void) | undefined;
};

/** How long a part waits for an agent that stopped answering. */
const patienceMs = 5 * 60_000;
const restMs = 1_000;

/** @throws PoolError `pay_run_conflict`, `pay_run_job_lost`, `invalid_request`, `payment_declined`, `agent_unreachable`: nothing was sent */
export async function paySplit(plan: SplitPlan, deps: SplitDeps): Promise<SplitOutcome> {
  const { digest, sent, count: known } = await findPayRun(plan, deps);
  const count = known ?? computePartCount(plan.entries, await deps.readCeiling());
  const parts: PartOutcome[] = [];
  for (const [index, entries] of cutRoster(plan.entries, count).entries()) {
    const name = { payRun: plan.payRun, digest, part: index + 1, count };
    const found = await findPart(name, sent?.parts[index]?.attempt ?? 1, deps.client);
    parts.push({ part: index + 1, of: count, entries, ...found });
  }
  assertNoneLost(
    parts.flatMap(({ part, job }) =>
      job === undefined && sent?.parts[part - 1]?.sent === 'accepted' && !plan.retry.includes(part)
        ? [part]
        : [],
    ),
    isRound(plan.payRun),
  );
  const ready = prepareRetries(parts, plan, digest);

  const unsent = ready.filter(({ job }) => job === undefined);
  const {
    issues: found,
    warnings,
    skipped,
  } = await checkParts(
    unsent.map(({ part, entries }) => ({
      part,
      entries,
      request: createRequest(plan, entries, plan.unregistered),
    })),
    (request) => deps.client.validate(request),
  );
  // A failed read says nothing about the payment, and the agent waits for what it needs.
  const issues = found.filter(({ code }) => code !== 'chain_unreachable');
  if (issues.length > 0) {
    const advice =
      known !== undefined && issues.some(({ code }) => code === 'batch-too-large')
        ? [
            'the ceiling is lower than when this pay run was cut: raise it again to continue, or use a new label for the people who are not paid yet; --dry-run --split --json lists them by part',
          ]
        : [];
    // `parts` without the retries, because the ledger does not contain them.
    return { parts, stop: createStop(issues, advice) };
  }
  for (const issue of [...found, ...warnings]) {
    deps.terminal.write(`warning: ${describeIssue(issue)}\n`);
  }
  if (unsent.length > 0) {
    const entries = unsent.flatMap((part) => part.entries);
    const pending = { ...plan, entries, skipped, parts: unsent.length };
    await deps.approve(plan, pending);
  }
  await claimPayRun(plan, { digest, count }, deps);
  for (const found of ready) {
    if (found.job !== undefined) {
      await recordKnownPart(plan, placeOf(found, digest), deps);
    }
  }
  const outcome = await payInOrder(ready, plan, digest, deps);
  return { ...outcome, isRepeat: unsent.length === 0 };
}

/** @param issues - what prevents a payment, at least one */
export function createStop(issues: readonly PartIssue[], advice: readonly string[] = []): Stop {
  return {
    code: issues[0]?.code ?? 'payment_blocked',
    message: ['this run submitted nothing:', ...issues.map(describeIssue), ...advice].join('\n'),
    problems: issues,
    exitCode: issues.every(isFinding) ? exitCodes.notNow : exitCodes.refused,
  };
}

function placeOf({ part, of, attempt }: PartOutcome, digest: string): Omit<PartName, 'payRun'> {
  return { digest, part, count: of, attempt };
}

export function computePartCount(entries: readonly RosterEntry[], ceiling: number): number {
  return Math.ceil(entries.length / ceiling);
}

/** @throws PoolError `invalid_request` */
function prepareRetries(
  parts: readonly PartOutcome[],
  { retry, payRun }: SplitPlan,
  digest: string,
): readonly PartOutcome[] {
  if (retry.some((part) => part > parts.length)) {
    throw invalidRetry(
      `--retry names a part that does not exist; this pay run has ${parts.length} part(s)`,
    );
  }
  return parts.map((found) => {
    const { part, of, job, entries } = found;
    if (!retry.includes(part) || job === undefined || !isTerminal(job) || isPaid(job)) {
      return found;
    }
    if (job.state === 'done') {
      throw invalidRetry(
        `part ${part} reverted on chain, which uses up its key; pay its people under a new label`,
      );
    }
    if (!hasNoEffect(job)) {
      throw invalidRetry(`part ${part} cannot be sent again: ${adviseOnUsedKey(job)}`);
    }
    const attempt = found.attempt + 1;
    const key = computePartKey({ payRun, digest, part, count: of, attempt });
    return { part, of, key, attempt, entries };
  });
}

export function isPaid(job: DisbursementJob): boolean {
  return job.state === 'done' && job.result?.status === 'completed';
}

/** True once the batch of a part has left the agent: its proof is made, and its turn is over as soon as it is in a block. */
function isOut(job: DisbursementJob): boolean {
  return isTerminal(job) || job.stage === 'settling' || job.stage === 'awaiting-finality';
}

async function payInOrder(
  ready: readonly PartOutcome[],
  plan: SplitPlan,
  digest: string,
  deps: SplitDeps,
): Promise<SplitOutcome> {
  const { client, signal, terminal } = deps;
  const parts = [...ready];
  /** Places of the parts that are sent and have not ended. */
  const open = new Set<number>();
  let hasUnpaid = false;

  /** Watches a sent part. Nothing is written of one that has not ended. */
  async function follow(index: number, until: (job: DisbursementJob) => boolean): Promise<void> {
    const found = parts[index];
    if (found?.job === undefined) {
      return;
    }
    const { job, trace } = await followJob(client, found.job, terminal, { ...deps, until });
    parts[index] = { ...found, job, ...(trace === undefined ? {} : { trace }) };
    if (isTerminal(job)) {
      open.delete(index);
      writePart(terminal, found, isPaid(job) ? 'paid' : describeEnd(job));
      hasUnpaid ||= !isPaid(job);
    } else if (!until(job)) {
      throw interrupted();
    }
  }

  /** A part that has ended unpaid meanwhile ends the sending. */
  async function lookAtOpen(): Promise<void> {
    for (const index of open) {
      const found = parts[index];
      const job = found && (await optional(() => client.job(found.key)));
      if (found !== undefined && job !== undefined && isTerminal(job)) {
        parts[index] = { ...found, job };
        await follow(index, isTerminal);
      }
    }
  }

  try {
    for (const [index, found] of ready.entries()) {
      if (found.job !== undefined && isTerminal(found.job)) {
        // The summary is useful without seconds and gas too.
        const trace = await client.trace(found.key).catch(() => undefined);
        parts[index] = { ...found, ...(trace === undefined ? {} : { trace }) };
        continue;
      }
      await lookAtOpen();
      assertNotInterrupted(signal);
      if (found.job === undefined && hasUnpaid) {
        break;
      }
      parts[index] = { ...found, job: found.job ?? (await submit(found, plan, digest, deps)) };
      open.add(index);
      deps.onSent?.();
      await follow(index, isOut);
    }
    for (const index of open) {
      await follow(index, isTerminal);
    }
    return { parts };
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    const { code, message, problems, details } = error;
    const exitCode = code === 'interrupted' ? exitCodes.interrupted : exitCodeOfError(code);
    const at = parts.findIndex(({ job }) => job === undefined);
    const sending = parts[at];
    if (sending !== undefined && details?.['mayHaveArrived'] === true) {
      parts[at] = { ...sending, isUnseen: true };
    }
    return { parts, stop: { code, message, problems, exitCode } };
  }
}

/** Waits for an agent that does not answer. Sending the same key again is the same payment. */
async function submit(
  found: PartOutcome,
  plan: SplitPlan,
  digest: string,
  deps: SplitDeps,
): Promise<DisbursementJob> {
  const { key, entries } = found;
  const request = createRequest(plan, entries, plan.unregistered);
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      const job = await sendPart(
        plan,
        placeOf(found, digest),
        () => submitOrFind(deps.client, key, request),
        deps,
      );
      writePart(deps.terminal, found, `submitted, ${entries.length} recipient(s)`);
      return job;
    } catch (error) {
      if (!isPoolError(error) || !error.retryable || performance.now() > giveUpAtMs) {
        throw error;
      }
      await sleep(restMs, undefined, { signal: deps.signal }).catch(() => undefined);
      if (deps.signal.aborted) {
        throw interrupted(error);
      }
    }
  }
}

function describeEnd(job: DisbursementJob): string {
  return job.state === 'done' ? 'reverted' : 'failed';
}

function writePart(terminal: Terminal, { part, of }: PartOutcome, what: string): void {
  terminal.write(`part ${part} of ${of}: ${what}\n`);
}

function assertNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted) {
    throw interrupted();
  }
}

/** @param during - the error that was being waited out */
function interrupted(during?: PoolError): PoolError {
  const { details } = during ?? {};
  return new PoolError(
    'interrupted',
    'interrupted; the agent continues what it has accepted: run the same command again to follow it and to send the rest, or "disburse-agent cancel <key>" to stop a part',
    details === undefined ? {} : { details },
  );
}

function invalidRetry(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
