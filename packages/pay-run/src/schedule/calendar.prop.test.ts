// Each occurrence has one period, whatever the clocks of its zone do: in every zone, over many years.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DueDay, formatRule, listDays, parseRule, type Rhythm } from './calendar.ts';

const zones = [
  ...Intl.supportedValuesOf('timeZone'),
  'UTC',
  // They skipped or repeated a whole day, or move by half an hour.
  ...['Pacific/Apia', 'Pacific/Kwajalein', 'Australia/Lord_Howe', 'Africa/Casablanca'],
];
const rules = [
  'last working day',
  'first working day',
  'last day',
  'day 25',
  'every friday',
  'every day',
];

const rhythm = fc.record({
  zone: fc.constantFrom(...zones),
  time: fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((pair) => pair.map((number) => String(number).padStart(2, '0')).join(':')),
  rule: fc.constantFrom(...rules),
  fromMs: fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) }),
});

function take(input: Rhythm, afterMs: number, count: number): readonly DueDay[] {
  const found: DueDay[] = [];
  for (const day of listDays(input, afterMs)) {
    found.push(day);
    if (found.length === count) {
      break;
    }
  }
  return found;
}

function toRhythm({ rule, ...rest }: { rule: string; time: string; zone: string }): Rhythm {
  return { ...rest, when: { kind: 'recurring', rule: parseRule(rule), weekend: 'keep' } };
}

describe('the days of a rule', () => {
  it('have a period each, in order, with none left out and none twice', () => {
    fc.assert(
      fc.property(rhythm, ({ fromMs, ...given }) => {
        const all = take(toRhythm(given), fromMs, 40);
        const periods = all.map(({ period }) => period);
        expect(new Set(periods).size).toBe(40);
        expect(periods).toEqual([...periods].sort());
        // Two days are one instant only where a zone left out a day.
        expect(
          all.every(({ payAtMs }, at) => at === 0 || payAtMs >= (all[at - 1]?.payAtMs ?? 0)),
        ).toBe(true);
        if (given.rule === 'every day') {
          const days = all.map(({ date }) => Date.parse(date) / 86_400_000);
          expect(days).toEqual(days.map((_, at) => (days[0] ?? 0) + at));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('do not depend on the moment at which somebody looks', () => {
    fc.assert(
      fc.property(
        rhythm,
        fc.nat(20),
        fc.integer({ min: 1, max: 86_400_000 }),
        (input, at, early) => {
          const { fromMs, ...given } = input;
          const all = take(toRhythm(given), fromMs, 24);
          const chosen = all[at];
          const before = (chosen?.payAtMs ?? 0) - early;
          const again = take(toRhythm(given), before, 3).find(
            ({ period }) => period === chosen?.period,
          );
          expect(again).toEqual(chosen);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are paid at the local time, except where the clocks skip it', () => {
    fc.assert(
      fc.property(rhythm, ({ fromMs, ...given }) => {
        for (const { payAtMs, date } of take(toRhythm(given), fromMs, 12)) {
          const local = formatLocal(payAtMs, given.zone);
          if (local !== `${date} ${given.time}`) {
            expect(local > `${date} ${given.time}`).toBe(true);
            // No instant within two days has that local time.
            for (let ms = payAtMs - 172_800_000; ms < payAtMs + 172_800_000; ms += 60_000 * 15) {
              expect(formatLocal(ms - (ms % 60_000), given.zone)).not.toBe(`${date} ${given.time}`);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

function formatLocal(atMs: number, zone: string): string {
  const options = { dateStyle: 'short', timeStyle: 'short', timeZone: zone } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(atMs);
}

describe('clock changes', () => {
  const daily = (time: string, zone: string): Rhythm => toRhythm({ rule: 'every day', time, zone });
  const at = (input: Rhythm, date: string): string =>
    new Date(
      take(input, Date.parse(date) - 2 * 86_400_000, 5).find((day) => day.date === date)?.payAtMs ??
        0,
    ).toISOString();

  it('move a time that is skipped, and take the first of one that is repeated', () => {
    expect(at(daily('02:30', 'Europe/Berlin'), '2027-03-28')).toBe('2027-03-28T01:30:00.000Z');
    expect(at(daily('02:30', 'Europe/Berlin'), '2027-10-31')).toBe('2027-10-31T00:30:00.000Z');
    expect(at(daily('01:30', 'America/New_York'), '2027-11-07')).toBe('2027-11-07T05:30:00.000Z');
  });

  it('that leave out a day leave its period', () => {
    const days = take(daily('09:00', 'Pacific/Apia'), Date.UTC(2011, 11, 28), 5);
    expect(days.map(({ period }) => period)).toContain('2011-12-30');
  });
});

it('a weekend moves the day and not the period', () => {
  const rule = { kind: 'recurring', rule: parseRule('day 1'), weekend: 'earlier' } as const;
  // 1 May 2027 is a Saturday.
  const days = take({ when: rule, time: '09:00', zone: 'UTC' }, Date.UTC(2027, 3, 15), 2);
  expect(days.map(({ period, date }) => [period, date])).toEqual([
    ['2027-05', '2027-04-30'],
    ['2027-06', '2027-06-01'],
  ]);
});

describe('holidays', () => {
  const holiday = fc
    .integer({ min: 0, max: 800 })
    .map((days) => toDay(Date.UTC(2027, 0) + days * 86_400_000));
  const months = ['last working day', 'first working day', 'last day', 'first day', 'day 25'];

  it('are never a day of payment, and move it to a working day and not its period', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(holiday, { minLength: 1, maxLength: 200 }),
        fc.constantFrom(...months),
        fc.constantFrom<'earlier' | 'later'>('earlier', 'later'),
        fc.nat(20),
        (dates, rule, move, at) => {
          const plain = { kind: 'recurring', rule: parseRule(rule), weekend: 'earlier' } as const;
          const base = { time: '09:00', zone: 'Europe/Berlin' };
          const before = take({ ...base, when: plain }, Date.UTC(2026, 11, 31), 26);
          const rhythm = { ...base, when: { ...plain, holidays: { dates, move } } };
          const after = take(rhythm, Date.UTC(2026, 10, 15), 30).filter(
            ({ period }) => period >= '2027-01',
          );
          for (const { period, date, payAtMs } of after) {
            expect(dates).not.toContain(date);
            expect([0, 6]).not.toContain(new Date(date).getUTCDay());
            const nominal = before.find((day) => day.period === period)?.date;
            // Every day in between is a holiday or at a weekend.
            const way = nominal === undefined || nominal === date ? [] : listBetween(nominal, date);
            expect(way.every((day) => dates.includes(day) || isAtWeekend(day))).toBe(true);
            if (nominal !== undefined && nominal !== date) {
              expect(dates).toContain(nominal);
              expect(date < nominal).toBe(move === 'earlier');
            }
            // Whoever looks later sees the same.
            expect(take(rhythm, payAtMs - 1 - at * 3_600_000, 3)).toContainEqual({
              period,
              date,
              payAtMs,
            });
          }
          expect(new Set(after.map(({ period }) => period)).size).toBe(after.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('in a long row are seen from its end', () => {
    const dates = Array.from({ length: 10 }, (_, at) => toDay(Date.UTC(2027, 11, 24 + at)));
    const when = { kind: 'recurring', rule: '24 * *', weekend: 'keep' } as const;
    const rhythm = { when: { ...when, holidays: { dates, move: 'later' as const } } };
    const [day] = take({ ...rhythm, time: '09:00', zone: 'UTC' }, Date.UTC(2028, 0, 2), 1);
    expect(day).toMatchObject({ period: '2027-12', date: '2028-01-03' });
  });

  it('that are skipped have no payment, and the others stay', () => {
    const when = { kind: 'recurring', rule: parseRule('every friday'), weekend: 'keep' } as const;
    const holidays = { dates: ['2027-12-24', '2027-12-31'], move: 'skip' as const };
    const rhythm = { when: { ...when, holidays }, time: '09:00', zone: 'UTC' };
    const days = take(rhythm, Date.UTC(2027, 11, 15), 3);
    expect(days.map(({ period }) => period)).toEqual(['2027-12-17', '2028-01-07', '2028-01-14']);
  });

  it('without a working day near them are refused', () => {
    const dates = Array.from({ length: 40 }, (_, at) =>
      toDay(Date.UTC(2027, 2, 20) + at * 86_400_000),
    );
    const when = { kind: 'recurring', rule: 'L * *', weekend: 'keep' } as const;
    const holidays = { dates, move: 'later' as const };
    const rhythm = { when: { ...when, holidays }, time: '09:00', zone: 'UTC' };
    expect(() => take(rhythm, Date.UTC(2027, 2, 25), 1)).toThrow('correct the list of holidays');
  });
});

function toDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function isAtWeekend(day: string): boolean {
  return [0, 6].includes(new Date(day).getUTCDay());
}

/** From the first one to the day before the other one, in either direction. */
function listBetween(from: string, to: string): string[] {
  const step = from < to ? 86_400_000 : -86_400_000;
  const days: string[] = [];
  for (let atMs = Date.parse(from); toDay(atMs) !== to; atMs += step) {
    days.push(toDay(atMs));
  }
  return days;
}

it.each(['day 31', 'day 0', 'sometimes', '* *', '31 2 *', 'x * *'])('%s is no rule', (text) => {
  expect(() => parseRule(text)).toThrowError(expect.objectContaining({ code: 'invalid_request' }));
});

it.each([
  ...[...rules, 'first day', 'every working day', 'every sunday', 'day 2'],
  // Nobody can write these in words.
  ...['LW */3 *', '31 * *', '* * 1,5'],
])('%s is read and written the same', (text) => {
  expect(formatRule(parseRule(text))).toBe(text);
});
