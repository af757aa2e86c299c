/**
 * `disburse-agent schedule …`, over the job store. Nothing here moves money: the running agent prepares, people release, and the agent pays.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { isPoolError, PoolError, quote } from '@pool/core';
import { listPreparers, loopbackCredential, type ReleasePolicy } from '@pool/policy';
import { runDry } from '../commands/dry-run.ts';
import { resolveTarget, type TargetOptions } from '../commands/pay-roster.ts';
import { exitCodeOfError, exitCodes } from '../exit-codes.ts';
import type { SplitPlan } from '../pay/split-pay-run.ts';
import type { Payer } from '../ports.ts';
import { type AdvanceDeps, describeOccurrence, withdraw } from './advance.ts';
import { formatInstant } from './calendar.ts';
import {
  createDefinition,
  type Definition,
  findPlan,
  type OccurrencePlan,
  type ScheduleOptions,
} from './definition.ts';
import { createPolicyMissing, readPayRun } from './prepare.ts';
import {
  describeDamagedOccurrence,
  describeDamagedSchedule,
  findReason,
  formatId,
  hasEnded,
  type LeasedOccurrence,
  type Occurrence,
  type ScheduleStore,
} from './schedule-store.ts';
import {
  type AheadState,
  planNext,
  type ScheduleView,
  viewNext,
  viewSchedule,
} from './schedule-view.ts';

/** What a command found: a document for programs, and lines for people. */
export type Shown = { readonly data: object; readonly lines: readonly string[] };

export type SchedulePlace = {
  readonly schedules: ScheduleStore;
  readonly policy: ReleasePolicy | undefined;
  readonly nowMs: () => number;
};

/** How many occurrences a command looks ahead. */
const ahead = 3;

/** @throws PoolError `invalid_request`, `invalid_policy` */
export async function addSchedule(
  name: string,
  payer: Pick<Payer, 'chain' | 'readChains'>,
  options: ScheduleOptions & TargetOptions,
  { schedules, policy, nowMs }: SchedulePlace,
): Promise<Shown> {
  const { chain, token, decimals } = resolveTarget(options, payer);
  const tokenAddress = payer.readChains()[chain]?.tokens[token]?.address ?? '';
  const target = { chain, token, tokenAddress, decimals };
  const definition = createDefinition(name, options, target, nowMs());
  assertCovered(definition, policy);
  await schedules.add(definition);
  const { data, lines } = await listNext(definition, ahead, { schedules, nowMs });
  return { data, lines: [`schedule ${quote(name)} is active`, ...lines] };
}

/** @throws PoolError `invalid_policy`, `release_policy_refused` */
function assertCovered(
  { chain, token, prepareMs, releaseMs }: Definition,
  policy: ReleasePolicy | undefined,
): void {
  if (policy === undefined) {
    throw createPolicyMissing();
  }
  if (listPreparers(policy, loopbackCredential).length === 0) {
    throw new PoolError(
      'release_policy_refused',
      `a schedule prepares with the credential ${loopbackCredential} of this agent, and no person of the release policy prepares with it: add ${loopbackCredential} to prepares of the person who is responsible for schedules`,
    );
  }
  const rules = policy.rules.filter((rule) => rule.chain === chain && rule.token === token);
  if (!rules.some(({ required }) => required > 0)) {
    throw new PoolError(
      'release_policy_refused',
      `the release policy requires no person for payments of ${token} on ${chain}, and a schedule pays with the release of a person only: add a rule with required 1 or more`,
    );
  }
  if (policy.waitHours * 3_600_000 < prepareMs - releaseMs) {
    throw new PoolError(
      'invalid_request',
      `a batch waits for its release for ${policy.waitHours} hours by the release policy, and that ends before --release-before: prepare it later, or raise waitHours`,
    );
  }
}

/** @returns also the exit code: 1 if a schedule, or a payment of one that has not ended, cannot be read */
export async function listSchedules({
  schedules,
  nowMs,
}: SchedulePlace): Promise<Shown & { readonly exitCode: number }> {
  const { schedules: all, damaged } = await schedules.list();
  const damagedPayments = await schedules.listDamaged();
  const rows = all
    .filter(({ state }) => state !== 'removed')
    .map(({ definition, state }) => {
      const [next] = planNext(definition, 1, nowMs());
      const { name, chain, token, label, roster } = definition;
      return { name, state, chain, token, label, roster, next: next && describePlan(next) };
    });
  return {
    data: { schedules: rows, damaged, damagedPayments },
    lines: [
      ...(rows.length + damaged.length === 0
        ? ['no schedule; "disburse-agent schedule add" makes one']
        : rows.map(
            ({ name, state, label, next }) =>
              `${name}  ${state}  ${quote(label)}  next: ${next?.at ?? 'none'}`,
          )),
      ...damaged.map(describeDamagedSchedule),
      ...damagedPayments.map(describeDamagedOccurrence),
    ],
    exitCode: damaged.length + damagedPayments.length === 0 ? exitCodes.ok : exitCodes.error,
  };
}

/** @throws PoolError `not_found` */
export async function showSchedule(
  name: string,
  { schedules, nowMs }: SchedulePlace,
): Promise<Shown> {
  const view = await viewSchedule(await schedules.read(name), 1, { schedules, nowMs });
  const { definition, state, rule, occurrences, damaged } = view;
  const { time, zone, roster, label, chain, token } = definition;
  const next = toShown(view);
  return {
    data: { state, definition, ...next.data, occurrences: occurrences.map(toRow), damaged },
    lines: [
      `${name}  ${state}  ${rule} at ${time} ${zone}, ${token} on ${chain}`,
      `roster ${quote(roster)}, label ${quote(label)}`,
      ...(state === 'active' ? next.lines : []),
      ...occurrences.map(describeOccurrence),
      ...damaged.map((period) => describeDamagedOccurrence(formatId(name, period))),
    ],
  };
}

/** @throws PoolError `not_found` */
export async function showNext(
  name: string,
  { count = ahead }: { readonly count?: number },
  { schedules, nowMs }: SchedulePlace,
): Promise<Shown> {
  const { definition } = await schedules.read(name);
  return await listNext(definition, count, { schedules, nowMs });
}

/**
 * The checks of a dry run for each of the next occurrences whose roster is there. Sends only read requests.
 * @returns also the highest exit code of the dry runs
 */
export async function dryRunSchedule(
  name: string,
  payer: Pick<Payer, 'ledger' | 'withChecks'>,
  { count = ahead }: { readonly count?: number },
  { schedules, nowMs }: SchedulePlace,
): Promise<Shown & { readonly exitCode: number }> {
  const { definition } = await schedules.read(name);
  const rows: object[] = [];
  const lines: string[] = [];
  const codes: number[] = [];
  for (const plan of planNext(definition, count, nowMs())) {
    const { row, text, exitCode } = await dryRunOccurrence(plan, payer);
    rows.push({ ...describePlan(plan), ...row });
    lines.push(describeAhead(plan), ...text.map((line) => `  ${line}`));
    codes.push(exitCode);
  }
  return { data: { occurrences: rows }, lines, exitCode: Math.max(0, ...codes) };
}

async function dryRunOccurrence(
  plan: OccurrencePlan,
  payer: Pick<Payer, 'ledger' | 'withChecks'>,
): Promise<{ readonly row: object; readonly text: readonly string[]; readonly exitCode: number }> {
  if (!existsSync(plan.roster)) {
    const message = `the roster ${quote(plan.roster)} is not there yet; it is read when the occurrence is prepared`;
    return { row: { roster: 'missing' }, text: [message], exitCode: 0 };
  }
  let payRun: SplitPlan;
  try {
    payRun = await readPayRun(plan);
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    const { code, message } = error;
    return {
      row: { roster: 'wrong', code, message },
      text: [message],
      exitCode: exitCodeOfError(code),
    };
  }
  const texts: string[] = [];
  const { decimals } = plan;
  let check: object = {};
  const terminal = { isTty: false, write: () => undefined };
  const out = (outcome: string | object): void => {
    if (typeof outcome === 'string') {
      texts.push(outcome);
    } else {
      check = outcome;
    }
  };
  const exitCode = await runDry(payer, payRun, { split: true, decimals }, { out, terminal });
  await runDry(payer, payRun, { split: true, decimals, json: true }, { out, terminal });
  const row = { roster: 'checked', check };
  return { row, text: texts.flatMap((text) => text.split('\n')), exitCode };
}

/** @param state - what it becomes. @throws PoolError `not_found`, `invalid_request` */
export async function switchSchedule(
  name: string,
  state: 'active' | 'paused' | 'removed',
  { schedules }: SchedulePlace,
): Promise<Shown> {
  // A damaged one can be removed. What was prepared of it is ended first, as of any other one.
  const isDamaged = state === 'removed' && (await schedules.list()).damaged.includes(name);
  if (!isDamaged && (await schedules.read(name)).state === 'removed') {
    throw new PoolError('invalid_request', `the schedule ${quote(name)} was removed; add it again`);
  }
  const { occurrences } = await schedules.listOf(name);
  const open = occurrences.filter((one) => one.state === 'prepared');
  if (state === 'removed' && open.length > 0) {
    throw new PoolError(
      'invalid_request',
      `${quote(name)} has prepared ${listPeriods(open)}, which may still be paid: end it first with "disburse-agent schedule skip ${name} <period>". Nothing was removed`,
    );
  }
  await schedules.switch(name, state);
  const note =
    state === 'paused' && open.length > 0
      ? [
          `${listPeriods(open)} is prepared and is paid if it is released; "disburse-agent schedule skip ${name} <period>" ends it`,
        ]
      : [];
  const data = { name, state, prepared: open.map(({ plan }) => plan.period) };
  return { data, lines: [`schedule ${quote(name)} is ${state}`, ...note] };
}

function listPeriods(occurrences: readonly Occurrence[]): string {
  return occurrences.map(({ plan }) => plan.period).join(', ');
}

const skipTries = 20;

/**
 * Decides that one occurrence is not paid, for good. What is prepared is cancelled through the agent, now or when it runs.
 * @throws PoolError `not_found`, `invalid_request`
 */
export async function skipOccurrence(
  name: string,
  period: string,
  deps: SchedulePlace & Omit<AdvanceDeps, 'schedules' | 'policy' | 'unchanged'>,
): Promise<Shown> {
  const { schedules } = deps;
  if ((await schedules.findOccurrence(name, period)) === undefined) {
    const { definition } = await schedules.read(name);
    await schedules.notice(requirePlan(definition, period));
  }
  for (let tries = 0; tries < skipTries; tries += 1) {
    const leased = await schedules.lease(formatId(name, period), 'command', 120_000);
    if (leased !== undefined) {
      return await skipLeased(leased, deps);
    }
    const stored = await schedules.findOccurrence(name, period);
    if (stored !== undefined && hasEnded(stored)) {
      throw new PoolError(
        'invalid_request',
        `${name} ${period} has ended: ${stored.state}; there is nothing to skip`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new PoolError(
    'invalid_request',
    `the agent works on ${name} ${period} at this moment, and nothing was skipped; run the same command again`,
  );
}

async function skipLeased(
  leased: LeasedOccurrence,
  deps: Parameters<typeof skipOccurrence>[2],
): Promise<Shown> {
  const { schedules } = deps;
  const { schedule, period } = leased.occurrence.plan;
  try {
    const cause = { code: 'skipped', message: 'a person skipped it' };
    const { occurrence } = await withdraw(leased, cause, { ...deps, unchanged: new Map() });
    return { data: toRow(occurrence), lines: [describeOccurrence(occurrence)] };
  } catch (error) {
    const stored = await schedules.findOccurrence(schedule, period);
    if (stored?.withdrawal === undefined || !isPoolError(error)) {
      throw error;
    }
    const note = `nothing more of it is signed, and the running agent ends it. Now it could not be ended: ${error.message}`;
    return { data: toRow(stored), lines: [describeOccurrence(stored), note] };
  } finally {
    await schedules.release(leased).catch(() => undefined);
  }
}

/** @throws PoolError `invalid_request` */
function requirePlan(definition: Definition, period: string): OccurrencePlan {
  const plan = findPlan(definition, period);
  if (plan === undefined) {
    throw new PoolError(
      'invalid_request',
      `${quote(period)} is no period of ${quote(definition.name)}; "disburse-agent schedule next ${definition.name}" prints them`,
    );
  }
  return plan;
}

async function listNext(
  definition: Definition,
  count: number,
  deps: Pick<SchedulePlace, 'schedules' | 'nowMs'>,
): Promise<Shown> {
  return toShown({ definition, next: await viewNext(definition, count, deps) });
}

function toShown({ definition, next }: Pick<ScheduleView, 'definition' | 'next'>): Shown {
  return {
    data: {
      name: definition.name,
      next: next.map(({ plan, state }) => ({ ...describePlan(plan), state })),
    },
    lines:
      next.length === 0
        ? ['no further occurrence']
        : next.map(({ plan, state }) => describeAhead(plan, state)),
  };
}

function describeAhead(plan: OccurrencePlan, state: AheadState = 'ahead'): string {
  const at = (atMs: number): string => formatInstant(atMs, plan.zone);
  return `${plan.period}  ${state === 'ahead' ? '' : `${state}  `}${quote(plan.label)}  prepared ${at(plan.prepareAtMs)}, released before ${at(plan.releaseByMs)}, paid ${at(plan.payAtMs)}, from ${quote(plan.roster)}`;
}

function describePlan(plan: OccurrencePlan) {
  const { period, label, roster, zone, prepareAtMs, releaseByMs, payAtMs, payByMs } = plan;
  const iso = (atMs: number): string => new Date(atMs).toISOString();
  return {
    ...{ period, label, roster },
    prepareAt: iso(prepareAtMs),
    releaseBy: iso(releaseByMs),
    payAt: iso(payAtMs),
    payBy: iso(payByMs),
    at: formatInstant(payAtMs, zone),
  };
}

function toRow(occurrence: Occurrence) {
  const { plan, state, prepared, withdrawal } = occurrence;
  const cause = findReason(occurrence);
  return {
    ...describePlan(plan),
    state,
    ...(withdrawal === undefined ? {} : { isWithdrawn: true }),
    ...(prepared === undefined ? {} : { keys: prepared.keys }),
    ...(cause === undefined ? {} : { code: cause.code, message: cause.message }),
  };
}
