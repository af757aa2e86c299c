/** @pool/idempotency: durable jobs behind request keys. */
export type {
  AskInput,
  ClaimInput,
  ClaimOutcome,
  ErasableInput,
  EraseInput,
  FencedName,
  JobLease,
  JobName,
  JobStore,
  LeaseInput,
  PutOnceInput,
  RenewInput,
  StoredJob,
  UpdateInput,
} from './job-store.ts';
export { createMemoryStore } from './memory-store.ts';
export { openJobStore } from './open-job-store.ts';
export { createSqliteStore } from './sqlite-store.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
