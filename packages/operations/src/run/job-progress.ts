/**
 * What running jobs tell: their progress, in memory, which is for terminals and not for decisions; and their log lines.
 *
 * @module
 */
import type { JobStage } from '@pool/core';
import type { Log } from '@pool/wallet/node';
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

/** Keys identify payments of people. The log lines contain the trace id instead, stages, codes and the first request's id. */
export function logJobEvent(log: Log, event: JobEvent, ids: Parameters<Log['info']>[0]): void {
  switch (event.kind) {
    case 'stage':
      log.info({ ...ids, stage: event.stage }, 'job entered a stage');
      return;
    case 'retry':
      log.warn(
        { ...ids, stage: event.stage, code: event.code, cause: event.cause },
        'job tries again',
      );
      return;
    case 'refused':
      log.warn(
        { ...ids, stage: event.stage, code: event.code },
        'the settlement was refused; the job waits',
      );
      return;
    case 'withdrawn':
      log.info({ ...ids, request: event.request }, 'a request of the job was withdrawn');
      return;
    case 'not-withdrawn':
      log.warn(
        { ...ids, request: event.request, code: event.code },
        'the job ends, and a request of it may still wait for votes, which have no effect; deny it at the custodian',
      );
      return;
    case 'outcome':
      log.info({ ...ids, state: event.state, code: event.code }, 'job ended');
      return;
    case 'interrupted':
      log.warn({ ...ids, reason: event.reason }, 'job was interrupted and will be continued');
      return;
    case 'progress':
      return;
  }
}
