/**
 * The progress of running jobs, in memory. It is for terminals, not for decisions.
 *
 * @module
 */
import type { JobStage } from '@pool/core';
import type { JobEvent } from './job-runner.ts';

export type Progress = {
  readonly stage: JobStage;
  /** 0 … 1; undefined if the stage reports none. */
  readonly fraction: number | undefined;
  /** When this process entered the stage. */
  readonly sinceMs: number;
};

export type JobProgress = {
  of(key: string): Progress | undefined;
  note(key: string, event: JobEvent): void;
};

export function createJobProgress(nowMs: () => number): JobProgress {
  const known = new Map<string, Progress>();
  return {
    of: (key) => known.get(key),
    note(key, event) {
      switch (event.kind) {
        case 'stage':
          known.set(key, { stage: event.stage, fraction: undefined, sinceMs: nowMs() });
          return;
        case 'progress': {
          const sinceMs = known.get(key)?.sinceMs ?? nowMs();
          known.set(key, { stage: event.stage, fraction: event.fraction, sinceMs });
          return;
        }
        case 'outcome':
        case 'interrupted':
          known.delete(key);
          return;
        case 'retry':
        case 'refused':
        case 'withdrawn':
        case 'not-withdrawn':
          return;
      }
    },
  };
}
