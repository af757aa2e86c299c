/**
 * Times for people, in the language of the texts and the time zone of the device.
 *
 * @module
 */

const language = 'en-GB';

export function formatDate(time: string | number): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(new Date(time));
}

export function formatTime(time: string | number): string {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(language, style).format(new Date(time));
}

/** @param key - for example `2026-11` */
export function formatMonth(key: string): string {
  const style = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(language, style).format(new Date(`${key}-15T00:00:00Z`));
}
