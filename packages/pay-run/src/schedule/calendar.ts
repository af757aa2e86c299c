/**
 * Days, periods and instants of a schedule. A period is a fact of the calendar: the month or the day on which a rule falls, whatever clocks
 * do. Only then the local time becomes an instant. croner knows rules and time zones.
 *
 * @module
 */
import { PoolError, quote } from '@pool/core';
import { Cron } from 'croner';
import * as v from 'valibot';

export const whenSchema = v.variant('kind', [
  v.strictObject({ kind: v.literal('once'), date: v.string() }),
  v.strictObject({
    kind: v.literal('recurring'),
    /** Day of the month, month, day of the week, as cron writes them. */
    rule: v.string(),
    /** What becomes of a Saturday or Sunday. */
    weekend: v.picklist(['keep', 'earlier', 'later']),
    /** Days on which nothing is paid. They were read when the schedule was added. */
    holidays: v.optional(
      v.strictObject({
        dates: v.array(v.string()),
        /** To the working day before or after. `skip`: nothing is paid for that period. */
        move: v.picklist(['earlier', 'later', 'skip']),
      }),
    ),
  }),
]);
export type When = v.InferOutput<typeof whenSchema>;
type Recurring = Extract<When, { kind: 'recurring' }>;
export type Weekend = Recurring['weekend'];
export type Holidays = NonNullable<Recurring['holidays']>;

/** When something is due in the calendar of its zone. */
export type Rhythm = {
  readonly when: When;
  /** Local, `09:00`. */
  readonly time: string;
  /** IANA name. */
  readonly zone: string;
};

export type DueDay = {
  /** `2027-03` of a rule that falls on one day of a month, else `2027-03-31`. */
  readonly period: string;
  /** Local. */
  readonly date: string;
  /** Milliseconds since the epoch. */
  readonly payAtMs: number;
};

const dayMs = 86_400_000;

/** How far a day may move. Further than any run of holidays. */
const longestMoveDays = 14;

const words: readonly (readonly [string, string])[] = [
  ['last working day', 'LW * *'],
  ['first working day', '1W * *'],
  ['last day', 'L * *'],
  ['first day', '1 * *'],
  ['every day', '* * *'],
  ['every working day', '* * 1-5'],
];
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** @param text - what the payer wrote. @throws PoolError `invalid_request` */
export function parseRule(text: string): string {
  const plain = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const known = words.find(([word]) => word === plain)?.[1];
  if (known !== undefined) {
    return known;
  }
  const day = /^day ([0-9]{1,2})$/.exec(plain)?.[1];
  if (day !== undefined) {
    if (Number(day) < 1 || Number(day) > 28) {
      throw refuse(
        `${quote(text)}: not every month has that day; use day 1 to day 28, or last day`,
      );
    }
    return `${Number(day)} * *`;
  }
  const weekday = weekdays.indexOf(/^every ([a-z]+)$/.exec(plain)?.[1] ?? '');
  if (weekday >= 0) {
    return `* * ${weekday}`;
  }
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 3) {
    throw refuse(
      `${quote(text)} is no rule; write last working day, first working day, last day, first day, day 25, every friday, every day, every working day, or the last three fields of cron: day of the month, month, day of the week`,
    );
  }
  const rule = fields.join(' ').toUpperCase();
  try {
    if (readDates(rule, '2024-01-01', 1).length > 0) {
      return rule;
    }
  } catch (cause) {
    throw refuse(
      `${quote(text)} cannot be read as day of the month, month and day of the week: ${cause instanceof Error ? cause.message : ''}`,
    );
  }
  throw refuse(`${quote(text)} falls on no day`);
}

/** A rule as a payer would write it. Others stay as cron writes them: day of the month, month, day of the week. */
export function formatRule(rule: string): string {
  const [day, weekday] = [/^([1-9]|1[0-9]|2[0-8]) \* \*$/, /^\* \* ([0-6])$/].map(
    (pattern) => pattern.exec(rule)?.[1],
  );
  const known = words.find(([, cron]) => cron === rule)?.[0];
  if (known !== undefined || (day === undefined && weekday === undefined)) {
    return known ?? rule;
  }
  return day === undefined ? `every ${weekdays[Number(weekday)]}` : `day ${day}`;
}

/** @throws PoolError `invalid_request` */
export function parseDate(text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  if (
    !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ||
    Number.isNaN(date.getTime()) ||
    toDate(date) !== text
  ) {
    throw refuse(`${quote(text)} is no day; write it like 2026-12-24`);
  }
  return text;
}

/** @throws PoolError `invalid_request` */
export function parseTime(text: string): string {
  if (!/^([01][0-9]|2[0-3]):[0-5][0-9]$/.test(text)) {
    throw refuse(`${quote(text)} is no time of the day; write it like 09:00`);
  }
  return text;
}

/** @throws PoolError `invalid_request` */
export function parseZone(text: string): string {
  try {
    if (/^[A-Za-z]/.test(text)) {
      return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
    }
  } catch {
    // Below.
  }
  throw refuse(`${quote(text)} is no time zone; write it like Europe/Berlin or UTC`);
}

/** True for a rule that falls on at most one day of a month, so that the month is its period. */
export function isMonthly({ rule }: { readonly rule: string }): boolean {
  return /^(?:[0-9]{1,2}W?|L|LW) \S+ \*$/.test(rule);
}

/** The days that come after an instant, in order. */
export function* listDays(rhythm: Rhythm, afterMs: number): Generator<DueDay> {
  const { when } = rhythm;
  if (when.kind === 'once') {
    const payAtMs = toInstant(rhythm, when.date);
    if (payAtMs > afterMs) {
      yield { period: when.date, date: when.date, payAtMs };
    }
    return;
  }
  // A zone may be a day away from UTC, and a weekend moves a day by two.
  let from = toDate(new Date(afterMs - (4 + longestMoveDays) * dayMs));
  const move = createMove(when);
  for (;;) {
    const dates = readDates(when.rule, from, 16);
    for (const nominal of dates) {
      const date = move(nominal);
      const payAtMs = date === undefined ? 0 : toInstant(rhythm, date);
      if (date !== undefined && payAtMs > afterMs) {
        yield { period: isMonthly(when) ? nominal.slice(0, 7) : nominal, date, payAtMs };
      }
    }
    const last = dates.at(-1);
    if (last === undefined) {
      return;
    }
    from = toDate(new Date(Date.parse(`${last}T00:00:00Z`) + dayMs));
  }
}

/** Dates of the calendar, without any clock. @param from - the first one that counts */
function readDates(rule: string, from: string, count: number): readonly string[] {
  const before = new Date(Date.parse(`${from}T00:00:00Z`) - 1_000);
  return new Cron(`0 0 0 ${rule}`, { timezone: 'UTC', paused: true })
    .nextRuns(count, before)
    .map(toDate);
}

/** @returns undefined: nothing is paid for that day */
function createMove({ weekend, holidays }: Recurring): (nominal: string) => string | undefined {
  const free = new Set(holidays?.dates);
  return (nominal) => {
    const date = moveFromWeekend(nominal, weekend);
    if (holidays === undefined || !free.has(date)) {
      return date;
    }
    if (holidays.move === 'skip') {
      return undefined;
    }
    const step = holidays.move === 'earlier' ? -1 : 1;
    for (let days = 1; days <= longestMoveDays; days += 1) {
      const moved = addDays(date, step * days);
      if (!free.has(moved) && !isWeekend(moved)) {
        return moved;
      }
    }
    throw refuse(
      `${date} is a holiday, and there is no working day within ${longestMoveDays} days ${holidays.move}; correct the list of holidays`,
    );
  };
}

function moveFromWeekend(date: string, weekend: Weekend): string {
  if (weekend === 'keep' || !isWeekend(date)) {
    return date;
  }
  const isSaturday = weekdayOf(date) === 6;
  return addDays(date, weekend === 'earlier' ? (isSaturday ? -1 : -2) : isSaturday ? 2 : 1);
}

function isWeekend(date: string): boolean {
  return weekdayOf(date) === 0 || weekdayOf(date) === 6;
}

function weekdayOf(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay();
}

function addDays(date: string, days: number): string {
  return toDate(new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs));
}

/** A local time that clocks skip is taken as much later as they skip. Of one that they repeat, the first counts. */
function toInstant({ time, zone }: Rhythm, date: string): number {
  const found = new Cron(`${date}T${time}:00`, { timezone: zone, paused: true }).nextRun(
    new Date(0),
  );
  if (found === null) {
    throw refuse(`${date} ${time} in ${zone} is no time that can be scheduled`);
  }
  return found.getTime();
}

function toDate(day: Date): string {
  return day.toISOString().slice(0, 10);
}

/** An instant for people: local time, zone, and UTC. */
export function formatInstant(atMs: number, zone: string): string {
  const options = { dateStyle: 'short', timeStyle: 'short', timeZone: zone } as const;
  const local = new Intl.DateTimeFormat('sv-SE', options).format(atMs);
  return `${local} ${zone} (${new Date(atMs).toISOString().slice(0, 16)}Z)`;
}

/** @throws PoolError `invalid_request` */
export function parseDuration(text: string): number {
  const [, count = '', unit = ''] = /^([0-9]{1,5})([dhms])$/.exec(text) ?? [];
  const unitMs = { d: dayMs, h: 3_600_000, m: 60_000, s: 1_000 }[unit];
  if (unitMs === undefined) {
    throw refuse(`${quote(text)} is no length of time; write it like 3d, 12h or 30m`);
  }
  return Number(count) * unitMs;
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
