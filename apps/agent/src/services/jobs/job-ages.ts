/**
 * How long disbursements have been without a step, for the metrics. Stages only: no key, no label and no amount.
 *
 * @module
 */
import type { JobStore } from '@pool/idempotency';

/** @returns seconds by stage, of the job that came no step further for the longest time. Empty if the store does not answer */
export async function readOldestJobs(
  store: Pick<JobStore, 'listUnfinished'>,
  nowMs: number,
): Promise<Readonly<Record<string, number>>> {
  const jobs = await store.listUnfinished(['accepted', 'submitted']).catch(() => []);
  const oldest: Record<string, number> = {};
  for (const { stage = 'not-started', sinceMs } of jobs) {
    const seconds = Math.max(0, (nowMs - sinceMs) / 1_000);
    oldest[stage] = Math.max(oldest[stage] ?? 0, seconds);
  }
  return oldest;
}
