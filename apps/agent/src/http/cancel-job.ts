/**
 * `DELETE /api/disburse/:key`: stores the wish to cancel, tells the worker, and waits for the job's end
 * (docs/decisions/0019). The cancellation goes on without whoever asked; asking again waits for the same end.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PoolError, peerCode } from '@pool/core';
import type { JobStore, StoredJob } from '@pool/idempotency';
import { cancellationName, deserializeRecord, serializeCancellation } from '@pool/operations';
import type { AgentFaultPoint } from '../config/config.ts';

export type CancelDeps = {
  readonly store: JobStore;
  readonly nowMs: () => number;
  /** Tells the worker that the wish is stored. */
  readonly cancel: (key: string) => void;
  /** Aborted when the agent stops: a restart goes on. */
  readonly stopping: AbortSignal;
  readonly reach: (point: AgentFaultPoint) => Promise<void>;
};

/** Pause between two looks at the job. */
const pollMs = 250;

/**
 * @param job - as it stands; one that has ended is answered as it is
 * @param caller - aborted when whoever asked hangs up
 * @returns the job at its end
 * @throws PoolError `agent_stopping` (503), `configuration_changed` (409)
 */
export async function cancelJob(
  job: StoredJob,
  deps: CancelDeps,
  caller: AbortSignal,
): Promise<StoredJob> {
  const { scope, key } = job;
  if (hasEnded(job)) {
    return job;
  }
  await deps.reach('cancel.before-store');
  const value = serializeCancellation(deps.nowMs());
  await deps.store.ask({ scope, key, name: cancellationName, value });
  await deps.reach('cancel.after-store');
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
        'agent_stopping',
        'the agent stops before the job has ended; the cancellation is stored and goes on when it starts again: ask again then',
        { status: 503, retryable: true },
      );
    }
  }
}

/** The worker has seen the wish, and cannot end the job with the settings of this agent. */
function refuseBlocked({ payload }: StoredJob): void {
  const { blocked } = deserializeRecord(payload);
  if (blocked?.isCancelled === true) {
    throw new PoolError(
      peerCode(blocked.code),
      `${blocked.message}; the cancellation is stored, and is carried out then`,
      { status: 409 },
    );
  }
}

function hasEnded({ state }: StoredJob): boolean {
  return state === 'done' || state === 'failed';
}
