/**
 * What an agent remembers beside its jobs: in files of its directory, or, with a job store on PostgreSQL, in the database that it shares
 * with the other agents of its employer.
 *
 * @module
 */
import { join } from 'node:path';
import { isPoolError, PoolError } from '@pool/core';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import { createKeyLock } from '@pool/wallet';
import {
  openEvidencePins,
  openPaidKeys,
  openSharedState,
  paidKeysPath,
  type SharedState,
} from '@pool/wallet/node';

/**
 * @param inMemory - whether evidence and paid keys are lost at the end. Default: as the jobs
 * @throws PoolError `database_unavailable`, `database_refused`, whose message names the variable
 */
export async function openAgentState(
  { home, jobs }: { readonly home: string; readonly jobs: JobStorePlace },
  inMemory = jobs.url === 'memory:',
): Promise<SharedState> {
  const settings = findJobServer(jobs);
  if (settings !== undefined) {
    const { mustBeDurable = false } = jobs;
    return await openSharedState({ settings, mustBeDurable }).catch((error: unknown) => {
      if (!isPoolError(error)) {
        throw error;
      }
      const code = error.code === 'database_refused' ? error.code : 'database_unavailable';
      throw new PoolError(code, `DISBURSE_JOB_STORE: ${error.message}`, { cause: error });
    });
  }
  const pins = openEvidencePins(inMemory ? ':memory:' : join(home, 'evidence-pins.sqlite'));
  const paidKeys = openPaidKeys(inMemory ? ':memory:' : paidKeysPath(home));
  return {
    ...{ pins, paidKeys },
    turns: createKeyLock(),
    assertShared: () => Promise.resolve(),
    async close() {
      pins.close();
      paidKeys.close();
    },
  };
}
