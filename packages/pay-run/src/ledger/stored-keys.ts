/**
 * The Idempotency-Keys in an agent's job store and whether they were paid, for the commands of `tenancy`
 * (docs/decisions/0008).
 *
 * @module
 */
import { type DisbursementResult, isPoolError } from '@pool/core';
import { findJobStore, type JobStore, type JobStorePlace, type StoredJob } from '@pool/idempotency';
import { deliveryName, deserializeRecord } from '@pool/operations';

export type StoredKey = {
  readonly employerId: string;
  readonly key: string;
  readonly state: string;
  /**
   * `open`: the job is underway and can still pay. `unknown`: another agent used the key, or another version of the agent
   * stored the job.
   */
  readonly paid: 'yes' | 'no' | 'open' | 'unknown';
  readonly createdAtMs: number;
};

/** Does not create a store: without one there are no keys. */
export async function listStoredKeys(jobs: JobStorePlace): Promise<readonly StoredKey[]> {
  return await withStore(jobs, [], async (store) => {
    const keys: StoredKey[] = [];
    for (const { scope, key } of await store.listNames()) {
      const job = await store.get(scope, key);
      if (job !== undefined) {
        const { state, createdAtMs } = job;
        keys.push({ employerId: scope, key, state, paid: judge(job), createdAtMs });
      }
    }
    return keys;
  });
}

/** How many jobs there are, for a person who looks at the agent. */
export type JobSummary = {
  readonly byState: Readonly<Record<string, number>>;
  /** Of submitted jobs. A job whose record this version cannot read counts as `unknown`. */
  readonly openByStage: Readonly<Record<string, number>>;
  readonly oldestOpen:
    | { readonly key: string; readonly state: string; readonly createdAtMs: number }
    | undefined;
};

/** Does not create a store: without one there are no jobs. */
export async function summarizeJobs(jobs: JobStorePlace): Promise<JobSummary> {
  const byState: Record<string, number> = {};
  const openByStage: Record<string, number> = {};
  let oldestOpen: JobSummary['oldestOpen'];
  await withStore(jobs, undefined, async (store) => {
    // Payloads are long, so none is read of a job that has ended.
    for (const scope of await listEmployersOf(store)) {
      for (const { key, state, createdAtMs } of await store.listChanged({ scope, sinceMs: 0 })) {
        byState[state] = (byState[state] ?? 0) + 1;
        const isOldest = createdAtMs < (oldestOpen?.createdAtMs ?? Number.POSITIVE_INFINITY);
        if (state !== 'done' && state !== 'failed' && isOldest) {
          oldestOpen = { key, state, createdAtMs };
        }
      }
    }
    for (const { stage = 'unknown' } of await store.listUnfinished(['submitted'])) {
      openByStage[stage] = (openByStage[stage] ?? 0) + 1;
    }
  });
  return { byState, openByStage, oldestOpen };
}

/** Employers with jobs in the store. Does not create a store. */
export async function listStoredEmployers(jobs: JobStorePlace): Promise<readonly string[]> {
  return await withStore(jobs, [], listEmployersOf);
}

export async function listEmployersOf(store: JobStore): Promise<readonly string[]> {
  return [...new Set((await store.listNames()).map(({ scope }) => scope))];
}

/** Whether this key could be paid a second time under another employer. */
export function isAtRisk({ paid }: StoredKey): boolean {
  return paid !== 'no';
}

/** A paid key with the stored text that delivers its notes again. Undefined: the agent that paid it stored no text. */
export type StoredDelivery = { readonly key: string; readonly text: string | undefined };

/**
 * The paid jobs of the store, oldest first, and jobs with a delivery whose record does not show whether they were paid.
 * Does not create a store.
 * @param only - one key; default: all
 */
export async function listDeliveries(
  jobs: JobStorePlace,
  only?: string,
): Promise<readonly StoredDelivery[]> {
  return await withStore(jobs, [], async (store) => {
    const deliveries: StoredDelivery[] = [];
    for (const { scope, key } of await store.listNames()) {
      const job = only === undefined || only === key ? await store.get(scope, key) : undefined;
      const paid = job === undefined ? 'no' : judge(job);
      if (paid === 'yes' || paid === 'unknown') {
        const text = await store.getValue(scope, key, deliveryName);
        deliveries.push(...(paid === 'unknown' && text === undefined ? [] : [{ key, text }]));
      }
    }
    return deliveries;
  });
}

/** Does not create a store. @returns `none` without one */
export async function withStore<T>(
  jobs: JobStorePlace,
  none: T,
  work: (store: JobStore) => Promise<T>,
): Promise<T> {
  const store = await findJobStore(jobs);
  if (store === undefined) {
    return none;
  }
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function judge({ state, payload }: StoredJob): StoredKey['paid'] {
  if (state !== 'done' && state !== 'failed') {
    return 'open';
  }
  const record = readRecord(payload);
  if (record === undefined) {
    return 'unknown';
  }
  const { phase } = record;
  if (state === 'done') {
    return phase.kind === 'reverted' ? judgeReverted(phase.result) : 'yes';
  }
  const code = phase.kind === 'failed' ? phase.error.code : undefined;
  if (code === 'idempotency_conflict') {
    return 'unknown';
  }
  return code === 'settled_elsewhere' ? 'yes' : 'no';
}

/** Undefined: another version of the agent stored it. */
export function readRecord(payload: string): ReturnType<typeof deserializeRecord> | undefined {
  try {
    return deserializeRecord(payload);
  } catch (error) {
    if (isPoolError(error) || error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}

/** The job itself paid nothing, but its key can have been paid under other settings. */
function judgeReverted({ batches }: DisbursementResult): 'no' | 'unknown' {
  return batches[0]?.error?.code === 'settled_elsewhere' ? 'unknown' : 'no';
}
