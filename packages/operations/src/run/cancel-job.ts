/**
 * `DELETE /api/disburse/:key`: stores the request to cancel, notifies the worker, and waits for the end of the job
 * (docs/decisions/0007). The cancellation continues when the caller disconnects. A repeated
 * request waits for the same end.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PoolError, peerCode } from '@pool/core';
import type { JobStore, StoredJob } from '@pool/idempotency';
import { cancellationName, deserializeRecord, serializeCancellation } from './job/record.ts';

export type CancelDeps = {
  readonly store: JobStore;
  readonly nowMs: () => number;
  /** Notifies the worker that the request to cancel is stored. */
  readonly cancel: (key: string) => void;
  /** Aborted when the agent stops. The cancellation continues after a restart. */
  readonly stopping: AbortSignal;
  readonly onFaultPoint: (point: 'cancel.before-store' | 'cancel.after-store') => Promise<void>;
};

/** Pause between two reads of the job. */
const pollMs = 250;

/**
 * @param job - as stored; a job that has ended is returned unchanged
 * @param caller - aborted when the caller disconnects
 * @param by - the caller's credential, for the release log
 * @returns the job at its end
 * @throws PoolError `stopping` (503), `configuration_changed` (409)
 */
export async function cancelJob(
  job: StoredJob,
  deps: CancelDeps,
  caller: AbortSignal,
  by: string,
): Promise<StoredJob> {
  const { scope, key } = job;
  if (hasEnded(job)) {
    return job;
  }
  await deps.onFaultPoint('cancel.before-store');
  const value = serializeCancellation(deps.nowMs(), by);
  await deps.store.ask({ scope, key, name: cancellationName, value });
  await deps.onFaultPoint('cancel.after-store');
  deps.cancel(key);
  const signal = AbortSignal.any([caller, deps.stopping]);
  for (;;) {
    const current = (await deps.store.get(scope, key)) ?? job;
    if (hasEnded(current)) {
      return current;
    }
    refuseBlocked(current);
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) {
      throw new PoolError(
        'stopping',
        'the agent stops before the job has ended; the cancellation is stored and continues when the agent starts again: repeat the request then',
      );
    }
  }
}

/** Refuses when the worker has read the request and cannot end the job with the settings of this agent. */
function refuseBlocked({ payload }: StoredJob): void {
  const { blocked } = deserializeRecord(payload);
  if (blocked?.isCancelled === true) {
    throw new PoolError(
      peerCode(blocked.code),
      `${blocked.message}; the cancellation is stored and is carried out once this is resolved`,
      { status: 409 },
    );
  }
}

function hasEnded({ state }: StoredJob): boolean {
  return state === 'done' || state === 'failed';
}
