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
import type { OccurrencePlan } from './definition.ts';
import {
  computeRosterDigest,
  decidePreparation,
  describeChanged,
  type PrepareDeps,
  sendPrepared,
} from './prepare.ts';
import type {
  Cause,
  LeasedOccurrence,
  Occurrence,
  OccurrenceState,
  ScheduleState,
  ScheduleStore,
} from './schedule-store.ts';

export type AdvanceDeps = PrepareDeps & { readonly schedules: Pick<ScheduleStore, 'decide'> };

/** How jobs end without a payment because people or time said so. */
const skipCodes: readonly (string | undefined)[] = [
  'release_expired',
  'release_denied',
  'cancelled',
];

/**
 * @param schedule - what became of its schedule; undefined: it is not there
 * @throws PoolError why it cannot go on now; it is tried again
 */
export async function advance(
  leased: LeasedOccurrence,
  schedule: ScheduleState | undefined,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  return leased.occurrence.state === 'due'
    ? await advanceDue(leased, schedule, deps)
    : await advancePrepared(leased, deps);
}

async function advanceDue(
  leased: LeasedOccurrence,
  schedule: ScheduleState | undefined,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { occurrence } = leased;
  const { plan } = occurrence;
  const isRemoved = schedule === undefined || schedule === 'removed';
  if (isRemoved) {
    const cause = { code: 'removed', message: 'the schedule was removed' };
    return await end(leased, 'skipped', cause, deps);
  }
  if (deps.nowMs() >= plan.releaseByMs) {
    return await end(leased, 'skipped', explainLate(occurrence, schedule), deps);
  }
  if (schedule === 'paused') {
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

function explainLate(
  { plan, cause }: Occurrence,
  schedule: ScheduleState | undefined,
): Omit<Cause, 'atMs'> {
  const deadline = formatInstant(plan.releaseByMs, plan.zone);
  const by = `before the deadline of its release, ${deadline}; it is not paid late`;
  if (cause !== undefined) {
    return { code: cause.code, message: `it could not be prepared ${by}. ${cause.message}` };
  }
  return schedule === 'paused'
    ? { code: 'paused', message: `the schedule was paused and not resumed ${by}` }
    : { code: 'late', message: `no agent was there to prepare it ${by}` };
}

async function advancePrepared(
  leased: LeasedOccurrence,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { plan, prepared } = leased.occurrence;
  const { client } = deps;
  const jobs = await findJobs(client, prepared?.keys ?? []);
  const known = jobs.flatMap((job) => (job === undefined ? [] : [job]));
  const nowMs = deps.nowMs();
  if (known.length === jobs.length && known.every(isTerminal)) {
    return await conclude(leased, known, deps);
  }
  if (known.length < jobs.length) {
    if (nowMs >= plan.releaseByMs || prepared === undefined) {
      const cause = {
        code: 'late',
        message: `the agent did not have all of it before the deadline of its release, ${formatInstant(plan.releaseByMs, plan.zone)}; it is not paid late`,
      };
      return await withdraw(leased, cause, deps);
    }
    if (await hasChanged(plan, prepared.digest)) {
      return await withdraw(leased, explainChange(plan), deps);
    }
    await sendPrepared(plan, prepared, deps);
    return leased;
  }
  // Until its time nothing of it is signed.
  if (nowMs < plan.payAtMs && prepared !== undefined && (await hasChanged(plan, prepared.digest))) {
    return await withdraw(leased, explainChange(plan), deps);
  }
  // A job that cannot go on, for example under another configuration, does not wake up days later.
  if (nowMs >= plan.payByMs && known.some((job) => !isTerminal(job) && isHeld(job))) {
    const cause = {
      code: 'late',
      message: `it was not signed before the end of its time, ${formatInstant(plan.payByMs, plan.zone)}`,
    };
    return await withdraw(leased, cause, deps);
  }
  return leased;
}

/** Nothing of it has left the agent. */
function isHeld({ stage }: DisbursementJob): boolean {
  return stage !== 'settling' && stage !== 'awaiting-finality' && stage !== 'settlement-refused';
}

function explainChange(plan: OccurrencePlan): Omit<Cause, 'atMs'> {
  return { code: 'roster_changed', message: describeChanged(plan) };
}

/** A file that is away says nothing: the batch is what people release. One that cannot be read any more is another one. */
async function hasChanged(plan: OccurrencePlan, digest: string): Promise<boolean> {
  try {
    return (await computeRosterDigest(plan)) !== digest;
  } catch (error) {
    if (isPoolError(error) && !isAway(error.cause)) {
      return true;
    }
    if (isPoolError(error)) {
      return false;
    }
    throw error;
  }
}

/** An error of the file system, in contrast to one of the content. */
function isAway(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause;
}

/** Cancels what the agent has, and stores how it ended. Paid parts stay paid. */
export async function withdraw(
  leased: LeasedOccurrence,
  cause: Omit<Cause, 'atMs'>,
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { client } = deps;
  const found = await findJobs(client, leased.occurrence.prepared?.keys ?? []);
  const known = found.flatMap((job) => (job === undefined ? [] : [job]));
  // All at once, so that none is paid while another is waited for.
  const ended = await Promise.all(
    known.map(async (job) => (isTerminal(job) ? job : await client.cancel(job.key))),
  );
  return ended.some(isPaid)
    ? await conclude(leased, ended, deps)
    : await end(leased, 'skipped', cause, deps);
}

async function conclude(
  leased: LeasedOccurrence,
  jobs: readonly DisbursementJob[],
  deps: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const paid = jobs.filter(isPaid);
  if (paid.length === leased.occurrence.prepared?.keys.length) {
    return await end(leased, 'paid', undefined, deps);
  }
  const [first] = jobs.filter((job) => !isPaid(job));
  const failure = first?.error ?? first?.result?.batches[0]?.error;
  const cause = {
    code: failure?.code ?? 'unpaid',
    message: failure?.message ?? 'a part of it is not paid',
  };
  if (paid.length > 0) {
    const message = `${paid.length} of ${leased.occurrence.prepared?.keys.length} parts are paid. ${cause.message}`;
    return await end(leased, 'partly-paid', { ...cause, message }, deps);
  }
  const isSkipped = jobs.every(({ error }) => skipCodes.includes(error?.code));
  return await end(leased, isSkipped ? 'skipped' : 'unpaid', cause, deps);
}

async function end(
  leased: LeasedOccurrence,
  state: OccurrenceState,
  cause: Omit<Cause, 'atMs'> | undefined,
  { schedules, nowMs }: AdvanceDeps,
): Promise<LeasedOccurrence> {
  const { cause: _, ...rest } = leased.occurrence;
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
  { schedules, nowMs }: AdvanceDeps,
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
export function describeOccurrence({ plan, state, cause }: Occurrence): string {
  const why = cause === undefined ? '' : ` (${cause.code}) ${cause.message}`;
  return `${plan.period}  ${state}  ${quote(plan.label)}  ${formatInstant(plan.payAtMs, plan.zone)}${why}`;
}
