/**
 * One step of an occurrence: from what is stored and what the agent says to the next decision, which is stored before it is carried out.
 *
 * @module
 */
import { type DisbursementJob, errorCodeOf, isPoolError, quote } from '@pool/core';
import { isTerminal } from '../pay/follow-job.ts';
import { isPaid } from '../pay/split-pay-run.ts';
import type { AgentClient } from '../ports.ts';
import { formatInstant } from './calendar.ts';
import { findPlan, type OccurrencePlan } from './definition.ts';
import {
  computeRosterDigest,
  decidePreparation,
  describeChanged,
  isSettled,
  type PrepareDeps,
  sendPrepared,
  stampOf,
} from './prepare.ts';
import {
  type Cause,
  findReason,
  type LeasedOccurrence,
  type Occurrence,
  type OccurrenceState,
  type Schedule,
  type ScheduleStore,
} from './schedule-store.ts';

export type AdvanceDeps = PrepareDeps & {
  readonly schedules: Pick<ScheduleStore, 'decide'>;
  /** Files that were found unchanged, by label: their stamps. They are not read again. */
  readonly unchanged: Map<string, string>;
};

/** How jobs end without a payment because people or time said so. */
const skipCodes: readonly (string | undefined)[] = [
  'release_expired',
  'release_denied',
  'cancelled',
];

/**
 * @param schedule - as it is now; undefined: it is not there
 * @throws PoolError why it cannot go on now; it is tried again
 */
export async function advance(
  leased: LeasedOccurrence,
  schedule: Schedule | undefined,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  return leased.occurrence.state === 'due'
    ? await advanceDue(leased, schedule, deps)
    : await advancePrepared(leased, schedule, deps);
}

async function advanceDue(
  leased: LeasedOccurrence,
  schedule: Schedule | undefined,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { occurrence } = leased;
  const { plan } = occurrence;
  const nowMs = deps.nowMs();
  if (isOrdered(schedule) && plan.definedAtMs !== schedule.definition.createdAtMs) {
    return await planAnew(leased, schedule, deps);
  }
  if (nowMs >= plan.releaseByMs) {
    return await end(leased, 'skipped', explainLate(occurrence, schedule), deps);
  }
  if (schedule?.state !== 'active' || nowMs < plan.prepareAtMs) {
    return leased;
  }
  const { prepared, warning } = await decidePreparation(plan, deps);
  const { cause: _, ...rest } = occurrence;
  const decided = await deps.schedules.decide(leased, {
    ...rest,
    state: 'prepared',
    prepared,
    ...(warning === undefined ? {} : { cause: warning }),
  });
  await sendPrepared(plan, prepared, deps);
  return decided;
}

function isOrdered(schedule: Schedule | undefined): schedule is Schedule {
  return schedule !== undefined && schedule.state !== 'removed';
}

/** The schedule was removed and added again. Nothing of the occurrence was sent, so the new orders count. */
async function planAnew(
  leased: LeasedOccurrence,
  { definition }: Schedule,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const plan = findPlan(definition, leased.occurrence.plan.period);
  return plan === undefined
    ? await end(leased, 'skipped', removed, deps)
    : await deps.schedules.decide(leased, { state: 'due', plan });
}

const removed = { code: 'removed', message: 'the schedule was removed' };

function explainLate(
  { plan, cause }: Occurrence,
  schedule: Schedule | undefined,
): Omit<Cause, 'atMs'> {
  if (!isOrdered(schedule)) {
    return removed;
  }
  const deadline = formatInstant(plan.releaseByMs, plan.zone);
  const by = `before the deadline of its release, ${deadline}; it is not paid late`;
  if (cause !== undefined) {
    return { code: cause.code, message: `it could not be prepared ${by}. ${cause.message}` };
  }
  return schedule.state === 'paused'
    ? { code: 'paused', message: `the schedule was paused and not resumed ${by}` }
    : { code: 'late', message: `no agent was there to prepare it ${by}` };
}

async function advancePrepared(
  leased: LeasedOccurrence,
  schedule: Schedule | undefined,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { plan, prepared, withdrawal } = leased.occurrence;
  const jobs = await findJobs(deps.client, prepared?.keys ?? []);
  const known = jobs.flatMap((job) => (job === undefined ? [] : [job]));
  if (known.length === jobs.length && known.every(isTerminal)) {
    return await conclude(leased, known, deps);
  }
  const reason =
    withdrawal ??
    (await explainWithdrawal(leased.occurrence, schedule, {
      ...{ deps, known, isSent: known.length === jobs.length },
    }));
  if (reason !== undefined) {
    return await withdraw(leased, reason, deps);
  }
  if (known.length < jobs.length && prepared !== undefined) {
    await sendPrepared(plan, prepared, deps);
    return leased;
  }
  const { cause, ...rest } = leased.occurrence;
  // What was in the way while it was sent is not in the way any more.
  return cause !== undefined && cause.atMs > (prepared?.atMs ?? 0)
    ? await deps.schedules.decide(leased, rest)
    : leased;
}

/** @returns why what is prepared must not be paid; undefined: it may be */
async function explainWithdrawal(
  { plan, prepared, cause }: Occurrence,
  schedule: Schedule | undefined,
  seen: {
    readonly deps: AdvanceDeps;
    readonly known: readonly DisbursementJob[];
    /** The agent has all of it. */
    readonly isSent: boolean;
  },
): Promise<Omit<Cause, 'atMs'> | undefined> {
  const { deps, known, isSent } = seen;
  const nowMs = deps.nowMs();
  if (!isOrdered(schedule) || schedule.definition.createdAtMs !== plan.definedAtMs) {
    return removed;
  }
  if (prepared === undefined || (!isSent && nowMs >= plan.releaseByMs)) {
    const why = cause === undefined ? '' : `. ${cause.message}`;
    const deadline = formatInstant(plan.releaseByMs, plan.zone);
    return {
      code: 'late',
      message: `the agent did not have all of it before the deadline of its release, ${deadline}; it is not paid late${why}`,
    };
  }
  // Until its time nothing of it is signed.
  if ((!isSent || nowMs < plan.payAtMs) && (await hasChanged(plan, prepared.digest, deps))) {
    return { code: 'roster_changed', message: describeChanged(plan) };
  }
  // A job that cannot go on, for example under another configuration, does not wake up days later.
  return nowMs >= plan.payByMs && known.some((job) => !isTerminal(job) && isHeld(job))
    ? {
        code: 'late',
        message: `it was not signed before the end of its time, ${formatInstant(plan.payByMs, plan.zone)}`,
      }
    : undefined;
}

/** Nothing of it has left the agent. */
function isHeld({ stage }: DisbursementJob): boolean {
  return stage !== 'settling' && stage !== 'awaiting-finality' && stage !== 'settlement-refused';
}

/**
 * A file that is away, or that somebody writes at this moment, says nothing: the batch is what people release. One that cannot be read any
 * more is another one.
 */
async function hasChanged(
  plan: OccurrencePlan,
  digest: string,
  { nowMs, unchanged }: Pick<AdvanceDeps, 'nowMs' | 'unchanged'>,
): Promise<boolean> {
  const stamp = stampOf(plan);
  if (stamp === undefined || unchanged.get(plan.label) === `${digest} ${stamp}`) {
    return false;
  }
  const isSame = await isStill(plan, digest);
  if (!isSettled(plan, nowMs()) || stampOf(plan) !== stamp) {
    return false;
  }
  if (isSame) {
    unchanged.set(plan.label, `${digest} ${stamp}`);
  }
  return !isSame;
}

async function isStill(plan: OccurrencePlan, digest: string): Promise<boolean> {
  try {
    return (await computeRosterDigest(plan)) === digest;
  } catch (error) {
    if (isPoolError(error)) {
      return isAway(error.cause);
    }
    throw error;
  }
}

/** An error of the file system, in contrast to one of the content. */
function isAway(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause;
}

/**
 * Decides that it is not paid, and then cancels what the agent has of it, again and again until all has ended. Paid parts stay paid.
 * @throws PoolError what the agent says while a job cannot end yet. The decision is stored
 */
export async function withdraw(
  leased: LeasedOccurrence,
  reason: Omit<Cause, 'atMs'>,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { client, windows, schedules, nowMs } = deps;
  const keys = leased.occurrence.prepared?.keys ?? [];
  if (keys.length === 0) {
    return await end(leased, 'skipped', reason, deps);
  }
  const { withdrawal = { ...reason, atMs: nowMs() } } = leased.occurrence;
  const decided =
    leased.occurrence.withdrawal === undefined
      ? await schedules.decide(leased, { ...leased.occurrence, withdrawal })
      : leased;
  // Before the jobs: an agent that sends one at this moment does not sign it either.
  for (const key of keys) {
    await windows.withdraw(key);
  }
  const found = await findJobs(client, keys);
  const known = found.flatMap((job) => (job === undefined ? [] : [job]));
  // All at once, so that none is paid while another is waited for.
  const ended = await Promise.all(
    known.map(async (job) => (isTerminal(job) ? job : await client.cancel(job.key))),
  );
  return ended.every(isTerminal) ? await conclude(decided, ended, deps) : decided;
}

async function conclude(
  leased: LeasedOccurrence,
  jobs: readonly DisbursementJob[],
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { prepared, withdrawal } = leased.occurrence;
  const paid = jobs.filter(isPaid);
  if (paid.length === prepared?.keys.length) {
    return await end(leased, 'paid', undefined, deps);
  }
  const [first] = jobs.filter((job) => !isPaid(job));
  const failure = withdrawal ?? first?.error ?? first?.result?.batches[0]?.error;
  const cause = {
    code: failure?.code ?? 'unpaid',
    message: failure?.message ?? 'a part of it is not paid',
  };
  if (paid.length > 0) {
    const message = `${paid.length} of ${prepared?.keys.length} parts are paid. ${cause.message}`;
    return await end(leased, 'partly-paid', { ...cause, message }, deps);
  }
  const isSkipped =
    withdrawal !== undefined || jobs.every(({ error }) => skipCodes.includes(error?.code));
  return await end(leased, isSkipped ? 'skipped' : 'unpaid', cause, deps);
}

async function end(
  leased: LeasedOccurrence,
  state: OccurrenceState,
  cause: Omit<Cause, 'atMs'> | undefined,
  { schedules, nowMs }: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { cause: _, withdrawal: __, ...rest } = leased.occurrence;
  const explained = cause === undefined ? {} : { cause: { ...cause, atMs: nowMs() } };
  return await schedules.decide(leased, { ...rest, state, ...explained });
}

async function findJobs(
  client: Pick<AgentClient, 'find'>,
  keys: readonly string[],
): Promise<readonly (DisbursementJob | undefined)[]> {
  return await Promise.all(keys.map((key) => client.find(key)));
}

/** Keeps why an occurrence cannot be prepared yet, for whoever looks and for its end. */
export async function keepCause(
  leased: LeasedOccurrence,
  error: unknown,
  { schedules, nowMs }: Pick<AdvanceDeps, 'schedules' | 'nowMs'>,
): Promise<LeasedOccurrence> {
  const code = errorCodeOf(error) ?? 'internal_error';
  const message = isPoolError(error) ? error.message : 'an unexpected error; see the log';
  const { occurrence } = leased;
  if (occurrence.cause?.code === code && occurrence.cause.message === message) {
    return leased;
  }
  return await schedules.decide(leased, {
    ...occurrence,
    cause: { code, message, atMs: nowMs() },
  });
}

/** One line for people. */
export function describeOccurrence(occurrence: Occurrence): string {
  const { plan, state, withdrawal } = occurrence;
  const reason = findReason(occurrence);
  const isEnding = withdrawal === undefined ? '' : ' and is withdrawn';
  const why = reason === undefined ? '' : `${isEnding} (${reason.code}) ${reason.message}`;
  return `${plan.period}  ${state}  ${quote(plan.label)}  ${formatInstant(plan.payAtMs, plan.zone)}${why}`;
}
