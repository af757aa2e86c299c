/**
 * Durable jobs identified by request keys: each key is claimed once, and one worker at a time holds the lease of a job.
 *
 * @module
 */

export type {
  AskInput,
  ChangedInput,
  ClaimInput,
  ClaimOutcome,
  ErasableInput,
  EraseInput,
  FencedName,
  JobLease,
  JobName,
  JobStore,
  JobSummary,
  LeaseInput,
  NewestInput,
  PutOnceInput,
  RenewInput,
  StoredJob,
  UpdateInput,
} from './job-store.ts';
export { createMemoryStore } from './memory-store.ts';
export {
  findJobServer,
  findJobStore,
  type JobStorePlace,
  openJobStore,
  parseJobStoreUrl,
} from './open-job-store.ts';
export { openPostgresStore } from './postgres-store.ts';
export { createSqliteStore } from './sqlite-store.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
