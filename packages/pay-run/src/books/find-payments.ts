/**
 * The newest payments of a store, without reading all of it.
 *
 * @module
 */
import { errorCodeOf, PoolError } from '@pool/core';
import type { JobName, JobStore, JobStorePlace, NewestInput, StoredJob } from '@pool/idempotency';
import { isLabelOf } from '../ledger/invited-record.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { listPartKeys, type PartPlace } from '../ledger/pay-run-of-key.ts';
import { withStore } from '../ledger/stored-keys.ts';
import { type JobFilter, selectPayments } from './select-payments.ts';
import { type PaymentState, readPayment, type StoredPayment } from './stored-payments.ts';

/** What a list may have of a whole store. */
export type PaymentPage = {
  readonly limit: number;
  /** Only payments that come after the one with this key. */
  readonly after?: string | undefined;
};

/** Rows that are read at once. A filter that the store does not know may leave few of them. */
const readAtOnce = 200;

/**
 * The newest first, and read no further than the page. Makes no store.
 * @returns also whether there are more. @throws PoolError `not_found` if no payment has the key of the page
 */
export async function findPayments(
  jobs: JobStorePlace,
  payRuns: readonly NamedPayRun[],
  filter: JobFilter,
  { limit, after: key }: PaymentPage,
): Promise<{ readonly payments: readonly StoredPayment[]; readonly hasMore: boolean }> {
  return await withStore(jobs, { payments: [], hasMore: false }, async (store) => {
    const places = new Map(payRuns.flatMap(listPartKeys));
    const query = { ...toQuery(filter, places), limit: Math.min(limit + 1, readAtOnce) };
    const found: StoredPayment[] = [];
    let after = key === undefined ? undefined : await findName(store, key);
    for (;;) {
      const page = await readPage(store, { ...query, after });
      const read = page.map((job) => readPayment(job, places));
      found.push(...selectPayments(read, filter));
      after = page.at(-1);
      if (page.length < query.limit || found.length > limit) {
        return { payments: found.slice(0, limit), hasMore: found.length > limit };
      }
    }
  });
}

/** A server ends a statement that looks through very many payloads. Then the caller looks through them, page by page. */
export async function readPage(
  store: Pick<JobStore, 'listNewest'>,
  { contains, ...query }: NewestInput,
): Promise<readonly StoredJob[]> {
  if (contains === undefined || contains.length === 0) {
    return await store.listNewest(query);
  }
  try {
    return await store.listNewest({ ...query, contains });
  } catch (error) {
    if (errorCodeOf(error) === 'store_busy') {
      return await store.listNewest(query);
    }
    throw error;
  }
}

const storedStates: Readonly<Partial<Record<PaymentState, readonly string[]>>> = {
  running: ['accepted', 'submitted'],
  paid: ['done'],
  reverted: ['done'],
  failed: ['failed'],
};

/** What the store can leave out itself. */
function toQuery(
  { chain, token, state, payRun, from, to }: JobFilter,
  places: ReadonlyMap<string, PartPlace>,
): Omit<NewestInput, 'limit'> {
  const label = payRun === undefined ? undefined : parsePayRun(payRun);
  const isWanted = (place: PartPlace): boolean =>
    label === undefined || isLabelOf(place.payRun, label);
  return {
    states: state && storedStates[state],
    keys:
      label === undefined
        ? undefined
        : [...places].flatMap(([key, place]) => (isWanted(place) ? [key] : [])),
    contains: [
      ...(chain === undefined ? [] : [`"chain":${JSON.stringify(chain)}`]),
      ...(token === undefined ? [] : [`"tokenSymbol":${JSON.stringify(token)}`]),
    ],
    createdFromMs: from === undefined ? undefined : Date.parse(from),
    createdBeforeMs: to === undefined ? undefined : Date.parse(to),
  };
}

async function findName(store: Pick<JobStore, 'listNewest'>, key: string): Promise<JobName> {
  const [job] = await store.listNewest({ keys: [key], limit: 1 });
  if (job === undefined) {
    throw createNoPayment(key);
  }
  return job;
}

/** Makes no store. @throws PoolError `not_found` */
export async function findPayment(
  jobs: JobStorePlace,
  payRuns: readonly NamedPayRun[],
  key: string,
): Promise<StoredPayment> {
  const [job] = await withStore(jobs, [], (store) => store.listNewest({ keys: [key], limit: 1 }));
  if (job === undefined) {
    throw createNoPayment(key);
  }
  return readPayment(job, new Map(payRuns.flatMap(listPartKeys)));
}

function createNoPayment(key: string): PoolError {
  return new PoolError(
    'not_found',
    `the job store has no job ${key}; "disburse-agent jobs list" prints the keys, and "disburse-agent pay-runs show" the parts of a label`,
  );
}
