/**
 * What a measurement reads of the payload of a job that the engine runs. Payloads are long, and a damaged one must not end a measurement,
 * so their text is searched and not parsed. A quotation mark inside a text of the payload is escaped, so no such text can pass for a mark.
 *
 * @module
 */
import type { UnfinishedJob } from './job-store.ts';

export const stageMark = '"stage":"';
/** Milliseconds since the epoch. */
export const movedMark = '"movedAtMs":';
/** Of a mark and what follows it. */
export const markLength = 60;

/** @param text - of the payload, or its parts that begin with a mark */
export function readMarks(text: string, createdAtMs: number): UnfinishedJob {
  const stage = new RegExp(`${stageMark}([a-z-]{1,40})"`).exec(text)?.[1];
  const movedAtMs = new RegExp(`${movedMark}([0-9]{1,15})`).exec(text)?.[1];
  return { stage, sinceMs: movedAtMs === undefined ? createdAtMs : Number(movedAtMs) };
}
