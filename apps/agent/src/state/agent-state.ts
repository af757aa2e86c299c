/**
 * What an agent remembers beside its jobs: in files of its directory, or, with a job store on PostgreSQL, in the database that it shares
 * with the other agents of its employer.
 *
 * @module
 */
import { join } from 'node:path';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import { createKeyLock } from '@pool/wallet';
import {
  openEvidencePins,
  openPaidKeys,
  openSharedState,
  paidKeysPath,
  type SharedState,
} from '@pool/wallet/node';

/** @throws PoolError `database_unavailable`, `database_refused` */
export async function openAgentState({
  home,
  jobs,
}: {
  readonly home: string;
  readonly jobs: JobStorePlace;
}): Promise<SharedState> {
  const settings = findJobServer(jobs);
  if (settings !== undefined) {
    return await openSharedState({ settings, mustBeDurable: jobs.mustBeDurable ?? false });
  }
  const inMemory = jobs.url === 'memory:';
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
