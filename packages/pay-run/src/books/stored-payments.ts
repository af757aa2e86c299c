/**
 * The payments in the job store of an agent, for lists and for the books. No agent needs to run.
 *
 * @module
 */
import type { DisbursementJob, JobState } from '@pool/core';
import type { JobStore, JobStorePlace, StoredJob } from '@pool/idempotency';
import { createJobView, type DisbursementRecord } from '@pool/operations';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { listPartKeys, type PartPlace } from '../ledger/pay-run-of-key.ts';
import { readRecord, withStore } from '../ledger/stored-keys.ts';
import { stateOf } from '../report/split-report.ts';

/** `unknown`: another version of the agent stored it. */
export type PaymentState = 'running' | 'paid' | 'reverted' | 'failed' | 'unknown';

/** Confidential: it has recipients and amounts, until retention erases them. */
export type StoredPayment = {
  readonly key: string;
  readonly state: PaymentState;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Absent: another version of the agent stored it. */
  readonly record?: DisbursementRecord;
  readonly job?: DisbursementJob;
  /** The part of a pay run that it pays. Absent: no label of this agent has this key. */
  readonly place?: PartPlace;
};

/** Oldest first. Makes no store. */
export async function listStoredPayments(
  jobs: JobStorePlace,
  payRuns: readonly NamedPayRun[],
): Promise<readonly StoredPayment[]> {
  return await withStore(jobs, [], async (store) => await listPayments(store, payRuns));
}

async function listPayments(
  store: Pick<JobStore, 'listNames' | 'get'>,
  payRuns: readonly NamedPayRun[],
): Promise<readonly StoredPayment[]> {
  const places = new Map(payRuns.flatMap(listPartKeys));
  const payments: StoredPayment[] = [];
  for (const { scope, key } of await store.listNames()) {
    const job = await store.get(scope, key);
    if (job !== undefined) {
      payments.push(readPayment(job, places));
    }
  }
  return payments;
}

/** @param places - by key */
export function readPayment(
  { key, state, payload, createdAtMs, updatedAtMs }: StoredJob,
  places: ReadonlyMap<string, PartPlace>,
): StoredPayment {
  const record = readRecord(payload);
  const place = places.get(key);
  const common = { key, createdAtMs, updatedAtMs, ...(place === undefined ? {} : { place }) };
  if (record === undefined) {
    return { ...common, state: 'unknown' };
  }
  const job = createJobView(state as JobState, record);
  return { ...common, state: stateOf(job) as PaymentState, record, job };
}
