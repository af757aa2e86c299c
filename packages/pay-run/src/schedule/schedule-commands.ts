/**
 * `disburse-agent schedule …`, over the job store. Nothing here moves money: the running agent prepares, people release, and the agent pays.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { PoolError, quote } from '@pool/core';
import { listPreparers, loopbackCredential, type ReleasePolicy } from '@pool/policy';
import { runDry } from '../commands/dry-run.ts';
import { resolveTarget, type TargetOptions } from '../commands/pay-roster.ts';
import type { Payer } from '../ports.ts';
import { type AdvanceDeps, describeOccurrence, withdraw } from './advance.ts';
import { formatInstant, listDays } from './calendar.ts';
import {
  createDefinition,
  type Definition,
  type OccurrencePlan,
  planOccurrence,
  type ScheduleOptions,
} from './definition.ts';
import { createPolicyMissing, readPayRun } from './prepare.ts';
import { formatId, hasEnded, type Occurrence, type ScheduleStore } from './schedule-store.ts';

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
  const target = resolveTarget(options, payer);
  const definition = createDefinition(name, options, target, nowMs());
  assertCovered(definition, policy);
  await schedules.add(definition);
  const { data, lines } = listNext(definition, ahead, nowMs());
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

export async function listSchedules({ schedules, nowMs }: SchedulePlace): Promise<Shown> {
  const all = await schedules.list();
  const rows = all
    .filter(({ state }) => state !== 'removed')
    .map(({ definition, state }) => {
      const [next] = planNext(definition, 1, nowMs());
      const { name, chain, token, label, roster } = definition;
      return { name, state, chain, token, label, roster, next: next && describePlan(next) };
    });
  return {
    data: { schedules: rows },
    lines:
      rows.length === 0
        ? ['no schedule; "disburse-agent schedule add" makes one']
        : rows.map(
            ({ name, state, label, next }) =>
              `${name}  ${state}  ${quote(label)}  next: ${next?.at ?? 'none'}`,
          ),
  };
}

/** @throws PoolError `not_found` */
export async function showSchedule(
  name: string,
  { schedules, nowMs }: SchedulePlace,
): Promise<Shown> {
  const { definition, state } = await schedules.read(name);
  const occurrences = await schedules.listOf(name);
  const next = listNext(definition, 1, nowMs());
  const { when, time, zone, roster, label, chain, token } = definition;
  const rule = when.kind === 'once' ? when.date : `${when.rule} (weekend: ${when.weekend})`;
  return {
    data: { state, definition, ...next.data, occurrences: occurrences.map(toRow) },
    lines: [
      `${name}  ${state}  ${rule} at ${time} ${zone}, ${token} on ${chain}`,
      `roster ${quote(roster)}, label ${quote(label)}`,
      ...(state === 'active' ? next.lines : []),
      ...occurrences.map(describeOccurrence),
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
  return listNext(definition, count, nowMs());
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
  const payRun = await readPayRun(plan);
  const texts: string[] = [];
  const documents: string[] = [];
  const { decimals } = plan;
  const terminal = { isTty: false, write: () => undefined };
  const out = (text: string): void => void texts.push(text);
  const exitCode = await runDry(payer, payRun, { split: true, decimals }, { out, terminal });
  await runDry(
    payer,
    payRun,
    { split: true, decimals, json: true },
    { out: (text) => void documents.push(text), terminal },
  );
  const check: unknown = JSON.parse(documents[0] ?? '{}');
  const row = { roster: 'checked', check };
  return { row, text: texts.flatMap((text) => text.split('\n')), exitCode };
}

/** @param state - what it becomes. @throws PoolError `not_found`, `invalid_request` */
export async function switchSchedule(
  name: string,
  state: 'active' | 'paused' | 'removed',
  { schedules }: SchedulePlace,
): Promise<Shown> {
  const { state: before } = await schedules.read(name);
  if (before === 'removed') {
    throw new PoolError('invalid_request', `the schedule ${quote(name)} was removed; add it again`);
  }
  const open = (await schedules.listOf(name)).filter((one) => one.state === 'prepared');
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
 * Ends one occurrence unpaid, for good. What is prepared is cancelled through the agent.
 * @throws PoolError `not_found`, `invalid_request`
 */
export async function skipOccurrence(
  name: string,
  period: string,
  deps: SchedulePlace & Omit<AdvanceDeps, 'schedules' | 'policy'>,
): Promise<Shown> {
  const { schedules, nowMs } = deps;
  const { definition } = await schedules.read(name);
  if ((await schedules.find(name, period)) === undefined) {
    await schedules.notice(findPlan(definition, period));
  }
  for (let tries = 0; tries < skipTries; tries += 1) {
    const leased = await schedules.lease(formatId(name, period), 'command', 120_000);
    if (leased !== undefined) {
      try {
        const cause = { code: 'skipped', message: 'a person skipped it' };
        const { occurrence } = await withdraw(leased, cause, { ...deps, nowMs });
        return { data: toRow(occurrence), lines: [describeOccurrence(occurrence)] };
      } finally {
        await schedules.release(leased).catch(() => undefined);
      }
    }
    const stored = await schedules.find(name, period);
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

/** @throws PoolError `invalid_request` */
function findPlan(definition: Definition, period: string): OccurrencePlan {
  for (const day of listDays(definition, definition.createdAtMs)) {
    if (day.period === period) {
      return planOccurrence(definition, day);
    }
    // Periods are written so that their order is that of time.
    if (day.period > period) {
      break;
    }
  }
  throw new PoolError(
    'invalid_request',
    `${quote(period)} is no period of ${quote(definition.name)}; "disburse-agent schedule next ${definition.name}" prints them`,
  );
}

function planNext(definition: Definition, count: number, nowMs: number): readonly OccurrencePlan[] {
  const found: OccurrencePlan[] = [];
  for (const day of listDays(definition, Math.max(nowMs, definition.createdAtMs))) {
    if (found.length === count) {
      break;
    }
    found.push(planOccurrence(definition, day));
  }
  return found;
}

function listNext(definition: Definition, count: number, nowMs: number): Shown {
  const plans = planNext(definition, count, nowMs);
  return {
    data: { name: definition.name, next: plans.map(describePlan) },
    lines: plans.length === 0 ? ['no further occurrence'] : plans.map(describeAhead),
  };
}

function describeAhead(plan: OccurrencePlan): string {
  const at = (atMs: number): string => formatInstant(atMs, plan.zone);
  return `${plan.period}  ${quote(plan.label)}  prepared ${at(plan.prepareAtMs)}, released before ${at(plan.releaseByMs)}, paid ${at(plan.payAtMs)}, from ${quote(plan.roster)}`;
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

function toRow({ plan, state, prepared, cause }: Occurrence) {
  return {
    ...describePlan(plan),
    state,
    ...(prepared === undefined ? {} : { keys: prepared.keys }),
    ...(cause === undefined ? {} : { code: cause.code, message: cause.message }),
  };
}
