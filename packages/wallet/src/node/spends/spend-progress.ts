/**
 * How far the spends of this process are, by key, for the command line that waits for one. In memory only.
 *
 * @module
 */
import type { SpendOperationName } from '@pool/core';
import type { SpendEvent, SpendStage } from '../../spend/spend-deps.ts';

export type SpendProgress = {
  /** False: no spend of that key is under way. */
  readonly isRunning: boolean;
  readonly stage?: SpendStage;
  /** In this stage. */
  readonly seconds?: number;
  /** Of the proof, 0 to 1. */
  readonly fraction?: number;
};

type Entry = { stage: SpendStage; sinceMs: number; fraction: number | undefined; callers: number };

export function createSpendProgress(nowMs: () => number) {
  const entries = new Map<string, Entry>();
  const nameOf = (operation: SpendOperationName, key: string): string => `${operation} ${key}`;
  return {
    /** Follows one spend. A second call with the same key does not begin again. @returns what to call with each event, and at the end */
    begin(operation: SpendOperationName, key: string) {
      const name = nameOf(operation, key);
      const entry = entries.get(name) ?? {
        stage: 'checking',
        sinceMs: nowMs(),
        fraction: undefined,
        callers: 0,
      };
      entry.callers += 1;
      entries.set(name, entry);
      return {
        note(event: SpendEvent): void {
          if (event.kind === 'stage') {
            Object.assign(entry, { stage: event.stage, sinceMs: nowMs(), fraction: undefined });
          } else if (event.kind === 'progress') {
            entry.fraction = event.fraction;
          }
        },
        end(): void {
          entry.callers -= 1;
          if (entry.callers === 0) {
            entries.delete(name);
          }
        },
      };
    },
    of(operation: SpendOperationName, key: string): SpendProgress {
      const entry = entries.get(nameOf(operation, key));
      if (entry === undefined) {
        return { isRunning: false };
      }
      const { stage, sinceMs, fraction } = entry;
      const seconds = Math.max(0, (nowMs() - sinceMs) / 1000);
      return { isRunning: true, stage, seconds, ...(fraction === undefined ? {} : { fraction }) };
    },
  };
}
