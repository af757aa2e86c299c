/**
 * The engine of durable jobs: phases in one table, runs that may end anywhere, waiting, and the worker that leases jobs. Without Node.
 *
 * @module
 */
export {
  BlockedRunError,
  createStopError,
  InterruptedRunError,
  passPoint,
  rethrowInterruption,
} from './interruption.ts';
export {
  type JobJournal,
  type JobRun,
  type JobWorker,
  startJobWorker,
  type WorkerOptions,
} from './job-worker.ts';
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
