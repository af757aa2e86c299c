/**
 * The engine of durable jobs: phases in one table, runs that may end anywhere, waiting, the worker that leases jobs, and a
 * store in memory. Without Node.
 *
 * @module
 */

export { createMemoryStore } from '../memory-store.ts';
export { eraseEach } from './erase-pass.ts';

export { createHold, type Hold } from './hold.ts';

export {
  BlockedRunError,
  InterruptedRunError,
  passPoint,
  rethrowInterruption,
  toErrorBody,
} from './interruption.ts';
export {
  cancellationName,
  type JobJournal,
  type JobRun,
  type JobWorker,
  startJobWorker,
  type WorkerOptions,
} from './job-worker.ts';
export { type JobNotice, type OpenJob, openJob } from './open-job.ts';
export {
  assertMove,
  type FaultPointOf,
  listFaultPoints,
  movePhase,
  type PhaseTable,
  readPhase,
} from './phases.ts';
export {
  computeDeadline,
  createPacer,
  type EngineClock,
  isTooLateToLeave,
  type Pacer,
  retryWork,
} from './waiting.ts';
