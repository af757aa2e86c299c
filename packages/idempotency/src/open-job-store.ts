/**
 * Opens the store that a configuration names, for example in `DISBURSE_JOB_STORE`.
 *
 * @module
 */
import type { JobStore } from './job-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { StoreError } from './store-error.ts';

/**
 * Opens a job store.
 *
 * @example
 * const store = openJobStore('sqlite:/var/lib/agent/jobs.sqlite');
 *
 * @param url - `sqlite:<path>` or `memory:`
 * @throws StoreError `invalid_store` for any other form, and when the file cannot be opened
 */
export function openJobStore(url: string): JobStore {
  if (url === 'memory:') {
    return createMemoryStore();
  }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '';
  // SQLite would accept `:memory:` and `file:…`. A store that does not persist must be requested explicitly, as `memory:`.
  if (path === '' || path.startsWith(':') || path.startsWith('file:')) {
    throw new StoreError(
      'invalid_store',
      'the job store must be sqlite:<path to a file> or memory:',
    );
  }
  return createSqliteStore({ path });
}
