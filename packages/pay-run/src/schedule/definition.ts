/**
 * What a schedule pays, and when: the orders of a payer, checked once when they are given.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type NumberFormat, PoolError, quote } from '@pool/core';
import * as v from 'valibot';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import { chooseFormat } from '../roster/roster-amount.ts';
import {
  type DueDay,
  type Holidays,
  isMonthly,
  listDays,
  parseDate,
  parseDuration,
  parseRule,
  parseTime,
  parseZone,
  type Weekend,
  type When,
  whenSchema,
} from './calendar.ts';

const lengthMs = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What is paid at each occurrence. */
const orderEntries = {
  chain: v.string(),
  /** Symbol. */
  token: v.string(),
  /** Of the token, as chains.json had it. Under another one nothing is prepared. */
  tokenAddress: v.string(),
  decimals: v.number(),
  format: v.picklist([
    'base-units',
    'decimal',
    'plain',
    'comma-point',
    'point-comma',
    'space-comma',
    'apostrophe-point',
  ]),
  unregistered: v.picklist(['fail', 'skip']),
};

const definitionSchema = v.strictObject({
  version: v.literal(1),
  name: v.string(),
  when: whenSchema,
  time: v.string(),
  zone: v.string(),
  /** Absolute path, with the placeholder. */
  roster: v.string(),
  label: v.string(),
  ...orderEntries,
  /** Before the payment. */
  prepareMs: lengthMs,
  /** Before the payment. */
  releaseMs: lengthMs,
  /** After the payment is due. */
  lateMs: lengthMs,
  createdAtMs: v.number(),
});
export type Definition = v.InferOutput<typeof definitionSchema>;

/** One occurrence as its definition says. It never changes once it is stored. */
const planEntries = {
  schedule: v.string(),
  /** Names the definition: a schedule that is removed and added again has another one. */
  definedAtMs: v.number(),
  period: v.string(),
  /** Local. */
  date: v.string(),
  zone: v.string(),
  /** In its normal form. */
  label: v.string(),
  roster: v.string(),
  ...orderEntries,
  prepareAtMs: v.number(),
  releaseByMs: v.number(),
  payAtMs: v.number(),
  payByMs: v.number(),
};
export const planSchema = v.strictObject(planEntries);
export type OccurrencePlan = v.InferOutput<typeof planSchema>;

/** Stands for the period in the path of a roster and in a label. */
const placeholder = '{period}';

export type ScheduleOptions = {
  readonly roster: string;
  readonly label: string;
  readonly when?: string;
  readonly on?: string;
  readonly weekend?: Weekend;
  /** Path of a list of days. */
  readonly holidays?: string;
  readonly onHoliday?: Holidays['move'];
  readonly time: string;
  readonly zone: string;
  readonly prepareBefore: string;
  readonly releaseBefore: string;
  readonly payWithin: string;
  readonly unregistered?: 'fail' | 'skip';
  readonly decimal?: boolean;
  readonly numberFormat?: NumberFormat;
};

/** @throws PoolError `invalid_request` */
export function createDefinition(
  name: string,
  options: ScheduleOptions,
  target: Pick<Definition, 'chain' | 'token' | 'tokenAddress' | 'decimals'>,
  nowMs: number,
): Definition {
  const definition: Definition = {
    version: 1,
    name: parseScheduleName(name),
    when: parseWhen(options),
    time: parseTime(options.time),
    zone: parseZone(options.zone),
    roster: resolve(options.roster),
    label: options.label,
    ...target,
    format: chooseFormat(options),
    unregistered: options.unregistered ?? 'fail',
    prepareMs: parseDuration(options.prepareBefore),
    releaseMs: parseDuration(options.releaseBefore),
    lateMs: parseDuration(options.payWithin),
    createdAtMs: nowMs,
  };
  if (definition.prepareMs <= definition.releaseMs) {
    throw refuse(
      '--prepare-before must be longer than --release-before: people release what is prepared',
    );
  }
  if (definition.lateMs === 0) {
    throw refuse('--pay-within must be longer than nothing: no payment is made in an instant');
  }
  if (definition.when.kind === 'recurring' && !options.label.includes(placeholder)) {
    throw refuse(
      `--label ${quote(options.label)} has no ${placeholder}: each occurrence is a payment with a label of its own, for example salaries-${placeholder}`,
    );
  }
  const [first] = listDays(definition, findStartMs(definition));
  if (first === undefined) {
    throw refuse('the deadline of its release has passed: nothing would be paid');
  }
  planOccurrence(definition, first);
  assertMovable(definition);
  return definition;
}

/** Finds out now whether a holiday has no working day near it. @throws PoolError `invalid_request` */
function assertMovable(definition: Definition): void {
  const { when } = definition;
  const last = when.kind === 'once' ? undefined : when.holidays?.dates.at(-1);
  for (const { date } of last === undefined ? [] : listDays(definition, findStartMs(definition))) {
    if (last !== undefined && date > last) {
      return;
    }
  }
}

/** @throws PoolError `invalid_request` */
function parseScheduleName(name: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
    throw refuse(
      `${quote(name)} is no name of a schedule: 1 to 32 small letters, digits and dashes, for example monthly`,
    );
  }
  return name;
}

function parseWhen(options: ScheduleOptions): When {
  const { when, on, weekend = 'keep', onHoliday } = options;
  if ((when === undefined) === (on === undefined)) {
    throw refuse('say --when for a recurring payment, or --on for one day');
  }
  if ((options.holidays === undefined) !== (onHoliday === undefined)) {
    throw refuse('--holidays and --on-holiday belong together: say both, or neither');
  }
  if (on !== undefined) {
    if (onHoliday !== undefined) {
      throw refuse('--holidays is for a recurring payment; choose another day with --on');
    }
    return { kind: 'once', date: parseDate(on) };
  }
  const rule = parseRule(when ?? '');
  const isMoved = weekend !== 'keep' || (onHoliday !== undefined && onHoliday !== 'skip');
  if (isMoved && !isMonthly({ rule })) {
    throw refuse(
      '--weekend, and --on-holiday earlier or later, are for a rule with one day in a month: two days would become one',
    );
  }
  return {
    ...{ kind: 'recurring', rule, weekend },
    ...(options.holidays === undefined || onHoliday === undefined
      ? {}
      : { holidays: { dates: readHolidays(options.holidays), move: onHoliday } }),
  };
}

/** More than a list of all countries for a lifetime is another file. */
const maxHolidays = 10_000;

/** One day a line; what follows a # is a comment. @throws PoolError `invalid_request` */
function readHolidays(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError('invalid_request', `the list of holidays ${quote(path)} cannot be read`, {
      cause,
    });
  }
  const dates = text.split('\n').flatMap((line, at) => {
    const [day = ''] = line.split('#', 1);
    return day.trim() === '' ? [] : [readHoliday(day.trim(), `${quote(path)} line ${at + 1}`)];
  });
  if (dates.length === 0 || dates.length > maxHolidays) {
    throw refuse(
      `the list of holidays ${quote(path)} has ${dates.length} days; it has 1 to ${maxHolidays}, one a line, for example 2027-12-24`,
    );
  }
  return [...new Set(dates)].sort();
}

function readHoliday(day: string, place: string): string {
  try {
    return parseDate(day);
  } catch (cause) {
    const message = cause instanceof PoolError ? cause.message : '';
    throw new PoolError('invalid_request', `${place}: ${message}`, { cause });
  }
}

/** Payments after this instant belong to the schedule: people can release them before their deadline. */
export function findStartMs({ createdAtMs, releaseMs }: Definition): number {
  return createdAtMs + releaseMs;
}

/** @returns undefined: the definition has no such period */
export function findPlan(definition: Definition, period: string): OccurrencePlan | undefined {
  const day = Date.parse(period);
  if (!/^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$/.test(period) || Number.isNaN(day)) {
    return undefined;
  }
  // From some days before, as weekends and holidays may move the payment out of its period.
  const afterMs = Math.max(findStartMs(definition), day - 28 * 86_400_000);
  for (const due of listDays(definition, afterMs)) {
    // Periods are written so that their order is that of time.
    if (due.period >= period) {
      return due.period === period ? planOccurrence(definition, due) : undefined;
    }
  }
  return undefined;
}

/** Of the store. @throws Error if it is none, or has no payment that can be planned */
export function parseDefinition(text: string): Definition {
  const definition = v.parse(definitionSchema, JSON.parse(text));
  const [first] = listDays(definition, findStartMs(definition));
  if (first === undefined) {
    throw refuse('it has no payment');
  }
  planOccurrence(definition, first);
  return definition;
}

/** Label and instants follow from the definition and the day alone. @throws PoolError `invalid_request` for a label that is none */
export function planOccurrence(definition: Definition, day: DueDay): OccurrencePlan {
  const { name: schedule, createdAtMs: definedAtMs, zone, format, unregistered } = definition;
  const { chain, token, tokenAddress, decimals } = definition;
  const { period, date, payAtMs } = day;
  return {
    ...{ schedule, definedAtMs, period, date, zone, format, unregistered },
    ...{ chain, token, tokenAddress, decimals },
    label: parseLabel(definition.label.replaceAll(placeholder, period)),
    roster: definition.roster.replaceAll(placeholder, period),
    prepareAtMs: payAtMs - definition.prepareMs,
    releaseByMs: payAtMs - definition.releaseMs,
    payAtMs,
    payByMs: payAtMs + definition.lateMs,
  };
}

function parseLabel(label: string): string {
  try {
    return parsePayRun(label);
  } catch (cause) {
    const message = cause instanceof PoolError ? cause.message.replace('--pay-run: ', '') : '';
    throw new PoolError('invalid_request', `--label: ${message}`, { cause });
  }
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
