/**
 * The worker of disbursements: {@link startJobWorker} with the pipeline.
 *
 * @module
 */
import type { JobStage } from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import { type JobWorker, startJobWorker, type WorkerOptions } from '@pool/idempotency/engine';
import { traceJob } from '@pool/tracing';
import type { Clock } from '@pool/wallet';
import { deserializeRecord } from './job/record.ts';
import type { DisbursementDeps, RunEvent } from './job/run.ts';
import { runDisbursement } from './run-disbursement.ts';

export type JobEvent =
  | RunEvent
  /** The run ended without an outcome. The job will be run again. */
  | { readonly kind: 'interrupted'; readonly reason: string };

/**
 * `scope`: the employer whose jobs are run. The platform assigns a settlement to the employer of the edge token. A job of another
 * employer, left in this store by an earlier agent, therefore waits for an agent of its own. `concurrency`: proofs are still made one by
 * one, and so are settlements of one allowance.
 */
export type JobRunnerOptions = Omit<
  WorkerOptions,
  'clock' | 'openStates' | 'perform' | 'onInterrupted'
> & {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly deps: Omit<DisbursementDeps, 'onEvent' | 'clock'>;
  /** @param requestId - of the request that the job was accepted from. Undefined: its record does not have it */
  readonly onEvent: (jobKey: string, event: JobEvent, requestId: string | undefined) => void;
};

/** In these stages a job waits, for hours if need be. It computes nothing and holds no lock. */
const idleStages: readonly JobStage[] = [
  'awaiting-release',
  'awaiting-approval',
  'awaiting-turn',
  'awaiting-finality',
  'settlement-refused',
  'cancelling',
];

/** @throws Error when the store may wait for another process for too long to renew a lease in time */
export function startJobRunner({ deps, onEvent, ...options }: JobRunnerOptions): JobWorker {
  return startJobWorker({
    ...options,
    openStates: ['accepted', 'submitted'],
    async perform({ job, journal, signal, setIdle }) {
      const record = deserializeRecord(job.payload);
      await traceJob(job.key, 'disbursement', async (addEvent) => {
        function emit(event: RunEvent): void {
          if (event.kind === 'stage') {
            setIdle(idleStages.includes(event.stage));
            addEvent(event.stage);
          }
          onEvent(job.key, event, record.requestId);
        }
        await runDisbursement(
          { record, journal, signal },
          { ...deps, clock: options.clock, onEvent: emit },
        );
      });
    },
    onInterrupted: ({ key, payload }, reason) =>
      onEvent(key, { kind: 'interrupted', reason }, readRequestId(payload)),
  });
}

/** Undefined too for a record that cannot be read. */
function readRequestId(payload: string): string | undefined {
  try {
    return deserializeRecord(payload).requestId;
  } catch {
    return undefined;
  }
}
