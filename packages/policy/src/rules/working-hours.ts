/**
 * Whether a time is within the working hours of a policy, by the clock of their time zone.
 *
 * @module
 */
import type { Weekday, WorkingHours } from '../policy/policy-schema.ts';

/** Daylight saving time is that of the zone. Hours never reach over midnight: `to` is later than `from` on the same day. */
export function isWithinHours(hours: WorkingHours, nowMs: number): boolean {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: hours.timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(nowMs);
  const partOf = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((part) => part.type === type)?.value ?? '';
  const day = partOf('weekday').toLowerCase() as Weekday;
  const time = `${partOf('hour')}:${partOf('minute')}`;
  return hours.days.includes(day) && hours.from <= time && time < hours.to;
}
