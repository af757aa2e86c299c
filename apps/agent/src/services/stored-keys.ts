/**
 * The Idempotency-Keys in an agent's job store and whether they were paid, for the commands of `tenancy`
 * (docs/decisions/0024).
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { type DisbursementResult, isPoolError } from '@pool/core';
import { type JobStore, openJobStore, type StoredJob } from '@pool/idempotency';
import { deliveryName, deserializeRecord } from '@pool/operations';

export type StoredKey = {
  readonly employerId: string;
  readonly key: string;
  readonly state: string;
  /**
   * `open`: the job is underway and may still pay. `unknown`: another agent has used the key, or another version
   * of this one stored the job.
   */
  readonly paid: 'yes' | 'no' | 'open' | 'unknown';
  readonly createdAtMs: number;
};

/** Creates nothing: without a store there are no keys. */
export async function listStoredKeys(jobStore: string): Promise<readonly StoredKey[]> {
  return await withStore(jobStore, [], async (store) => {
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

/** Employers with jobs in the store. Creates nothing. */
export async function listStoredEmployers(jobStore: string): Promise<readonly string[]> {
  return await withStore(jobStore, [], listEmployersOf);
}

export async function listEmployersOf(store: JobStore): Promise<readonly string[]> {
  return [...new Set((await store.listNames()).map(({ scope }) => scope))];
}

/** Could this key be paid a second time under another employer? */
export function isAtRisk({ paid }: StoredKey): boolean {
  return paid !== 'no';
}

/**
 * A paid key with the text that was kept to deliver its notes again, as it is stored. Undefined: it was paid by an agent
 * that kept nothing.
 */
export type StoredDelivery = { readonly key: string; readonly text: string | undefined };

/**
 * The paid jobs of the store, oldest first, and those whose record does not tell but which have a delivery. Creates nothing.
 * @param wanted - one key; default: all
 */
export async function listDeliveries(
  jobStore: string,
  wanted?: string,
): Promise<readonly StoredDelivery[]> {
  return await withStore(jobStore, [], async (store) => {
    const deliveries: StoredDelivery[] = [];
    for (const { scope, key } of await store.listNames()) {
      const job = wanted === undefined || wanted === key ? await store.get(scope, key) : undefined;
      const paid = job === undefined ? 'no' : judge(job);
      if (paid === 'yes' || paid === 'unknown') {
        const text = await store.getValue(scope, key, deliveryName);
        deliveries.push(...(paid === 'unknown' && text === undefined ? [] : [{ key, text }]));
      }
    }
    return deliveries;
  });
}

async function withStore<T>(
  jobStore: string,
  none: T,
  work: (store: JobStore) => Promise<T>,
): Promise<T> {
  const path = /^sqlite:(.+)$/.exec(jobStore)?.[1];
  if (path === undefined || !existsSync(path)) {
    return none;
  }
  const store = openJobStore(jobStore);
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
  try {
    const { result, error } = deserializeRecord(payload);
    if (state === 'done') {
      return result?.status === 'partial' ? judgeReverted(result) : 'yes';
    }
    if (error?.code === 'idempotency_conflict') {
      return 'unknown';
    }
    return error?.code === 'settled_elsewhere' ? 'yes' : 'no';
  } catch (error) {
    if (isPoolError(error) || error instanceof SyntaxError) {
      return 'unknown';
    }
    throw error;
  }
}

/** Nothing of the job itself was paid; its key may be paid under other settings. */
function judgeReverted({ batches }: DisbursementResult): 'no' | 'unknown' {
  return batches[0]?.error?.code === 'settled_elsewhere' ? 'unknown' : 'no';
}
