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
  findSharedState,
  openEvidencePins,
  openOpeningsStore,
  openPaidKeys,
  openRecordedPaidKeys,
  openSharedState,
  paidKeysPath,
  type SharedState,
} from '@pool/wallet/node';

/**
 * @param inMemory - whether evidence and paid keys are lost at the end. Default: as the jobs
 * @throws PoolError `database_unavailable`, `database_refused`, whose message names the variable
 */
export async function openAgentState(
  { home, jobs }: StatePlace,
  inMemory = jobs.url === 'memory:',
): Promise<SharedState> {
  const settings = findJobServer(jobs);
  if (settings !== undefined) {
    return await openSharedState({ settings, ...durabilityOf(jobs) }).catch(rethrow);
  }
  const pins = openEvidencePins(inMemory ? ':memory:' : join(home, 'evidence-pins.sqlite'));
  const paidKeys = openPaidKeys(inMemory ? ':memory:' : paidKeysPath(home));
  return {
    ...{ pins, paidKeys },
    turns: createKeyLock(),
    assertShared: () => Promise.resolve(),
    // On disk whatever the job store is.
    openOpenings: () => openOpeningsStore(home),
    async close() {
      pins.close();
      paidKeys.close();
    },
  };
}

/**
 * Where a command beside the agent keeps evidence.
 * @throws as {@link openAgentState}; `database_refused` too if no agent has used the shared database
 */
export async function openPins(place: StatePlace): Promise<Pick<SharedState, 'pins' | 'close'>> {
  const settings = findJobServer(place.jobs);
  if (settings === undefined) {
    // A contact is kept on disk, so its evidence is too.
    return await openAgentState(place, false);
  }
  const options = { settings, ...durabilityOf(place.jobs) };
  const state = await findSharedState(options, 'write').catch(rethrow);
  if (state === undefined) {
    throw new PoolError(
      'database_refused',
      'DISBURSE_JOB_STORE: no agent has used this database yet; start one first',
    );
  }
  return state;
}

/** The keys that were paid before, for a command that only reads. Makes nothing. @throws as {@link openAgentState} */
export async function openRecordedKeys({
  home,
  jobs,
}: StatePlace): Promise<Pick<SharedState, 'paidKeys' | 'close'>> {
  const settings = findJobServer(jobs);
  const shared =
    settings && (await findSharedState({ settings, ...durabilityOf(jobs) }, 'read').catch(rethrow));
  if (shared !== undefined) {
    return shared;
  }
  const paidKeys = settings ? openPaidKeys(':memory:') : openRecordedPaidKeys(home);
  return { paidKeys, close: async () => paidKeys.close() };
}

type StatePlace = { readonly home: string; readonly jobs: JobStorePlace };

function durabilityOf({ mustBeDurable = false }: JobStorePlace): {
  readonly mustBeDurable: boolean;
} {
  return { mustBeDurable };
}

function rethrow(error: unknown): never {
  if (!isPoolError(error)) {
    throw error;
  }
  const code = error.code === 'database_refused' ? error.code : 'database_unavailable';
  throw new PoolError(code, `DISBURSE_JOB_STORE: ${error.message}`, { cause: error });
}
